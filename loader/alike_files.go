package loader

import (
	"errors"
	"io/fs"
	"os"
	slashed "path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"

	"nmn/loader/picture"
)

// AlikeFiles finds files whose names are written in another letter case or Unicode normal form. macOS stores é
// as e and an accent, and most programs write one letter.
type AlikeFiles struct {
	folder  string
	whole   string                         // its absolute path, with slashes
	folders map[string]string              // written folders that are there under another name
	names   map[string]map[string][]string // by folder, the names in it by their keys
}

// NewAlikeFiles returns a finder of files in a folder.
func NewAlikeFiles(folder string) *AlikeFiles {
	whole, _ := filepath.Abs(folder) // without it no path repeats the folder
	return &AlikeFiles{folder: folder, whole: filepath.ToSlash(whole), folders: map[string]string{},
		names: map[string]map[string][]string{}}
}

// AlikeFileKey returns a path in small letters and composed characters. Paths with the same key may be one file.
func AlikeFileKey(path string) string { return strings.ToLower(norm.NFC.String(path)) }

// Find returns the files that a path with slashes may mean. Their names and folders differ from it in letter case or
// normal form alone, or their names have the extension of a picture that the path lacks. A path may also begin with
// the end of the folder's own path, such as pics/1.jpg for the folder pics.
func (a *AlikeFiles) Find(path string) ([]string, error) {
	dir, name := slashed.Split(path)
	dir, of, err := a.in(dir)
	if err != nil {
		return nil, err
	}
	key := norm.NFC.String(name)
	if picture.IsName(name) {
		key = AlikeFileKey(name)
	}
	var found []string
	if slices.Contains(of[key], name) {
		return []string{dir + name}, nil
	}
	for _, alike := range of[key] {
		found = append(found, dir+alike)
	}
	for i := range path {
		if len(found) == 0 && i > 0 && path[i] == '/' && strings.HasSuffix(a.whole, "/"+path[:i]) {
			return a.Find(path[i+1:])
		}
	}
	return found, nil
}

// in returns a folder under its own name, and the names in it by their keys.
func (a *AlikeFiles) in(dir string) (string, map[string][]string, error) {
	if own, known := a.folders[dir]; known {
		return own, a.names[own], nil
	}
	own := dir
	entries, err := os.ReadDir(PathIn(a.folder, dir))
	if errors.Is(err, fs.ErrNotExist) && strings.Trim(dir, "/") != "" {
		above, name := slashed.Split(strings.TrimSuffix(dir, "/"))
		above, of, wrong := a.in(above)
		if wrong != nil {
			return "", nil, wrong
		}
		if alike := of[folderKey(name)]; len(alike) == 1 {
			own = above + alike[0] + "/"
			entries, err = os.ReadDir(PathIn(a.folder, own))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return "", nil, err
	}
	if a.folders[dir] = own; a.names[own] == nil {
		a.names[own] = namesByKey(entries)
	}
	return own, a.names[own], nil
}

// namesByKey are the names in a folder by the keys under which they are looked up.
func namesByKey(entries []fs.DirEntry) map[string][]string {
	of := map[string][]string{}
	put := func(key, name string) { of[key] = append(of[key], name) }
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 {
			put(folderKey(name), name)
		}
		switch {
		case entry.IsDir():
		case picture.IsName(name):
			put(AlikeFileKey(name), name)
			put(norm.NFC.String(strings.TrimSuffix(name, slashed.Ext(name))), name)
		default:
			put(norm.NFC.String(name), name)
		}
	}
	return of
}

// folderKey is the key of a folder, which no file has.
func folderKey(name string) string { return AlikeFileKey(name) + "/" }
