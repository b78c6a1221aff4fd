package frames

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"nmn/internal/input"
	"nmn/loader/picture"
)

// Search lists the clips of paths: files as they are named, folders with all clips below, in the order of
// their names. A clip of the only folder is named by its path in it, others by the path as given.
func Search(paths []string) ([]Source, error) {
	var all []Source
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("frames: cannot find the clips: %w", err)
		}
		if !info.IsDir() {
			all = append(all, Source{Name: slashed(path), Path: path})
			continue
		}
		inside, err := below(path)
		if err != nil {
			return nil, fmt.Errorf("frames: cannot search %q: %w", path, err)
		}
		for _, file := range inside {
			name := filepath.Join(path, file)
			if len(paths) == 1 {
				name = file
			}
			all = append(all, Source{Name: slashed(name), Path: filepath.Join(path, file)})
		}
	}
	slices.SortFunc(all, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b Source) bool { return a.Name == b.Name })
	if len(all) == 0 {
		return nil, fmt.Errorf("frames: there is no clip (%s) in %s", strings.Join(picture.ClipExtensions(), " "),
			strings.Join(paths, ", "))
	}
	return all, nil
}

// below lists the clips under a folder by their paths in it.
func below(folder string) ([]string, error) {
	var files []string
	root := folder + string(filepath.Separator) // follows a link
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&^fs.ModeSymlink != 0 || !picture.IsClipName(file) {
			return err
		}
		inside, err := filepath.Rel(folder, file)
		files = append(files, inside)
		return err
	})
	return files, err
}

func slashed(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// ReadList reads clips from a file: a path on each line, in the order in which they are to be stored.
// Relative paths start in the folder of the list. A clip has the name that is in the list. Empty lines and
// lines that begin with # are skipped.
func ReadList(name string) ([]Source, error) {
	file, err := input.OpenFile(name)
	if err != nil {
		return nil, fmt.Errorf("frames: cannot read the list of clips: %w", err)
	}
	defer file.Close()
	all, err := parseList(file, filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("frames: list of clips %s, %w", name, err)
	}
	return all, nil
}

// listLine bounds a line of a list, in bytes.
const listLine = 1 << 14

func parseList(r io.Reader, folder string) ([]Source, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, listLine)
	var all []Source
	seen := map[string]int{}
	number := 0
	for lines.Scan() {
		number++
		path := strings.TrimSpace(lines.Text())
		if path == "" || path[0] == '#' {
			continue
		}
		s := Source{Name: slashed(path), Path: path}
		if !filepath.IsAbs(path) {
			s.Path = filepath.Join(folder, path)
		}
		if first := seen[s.Name]; first > 0 {
			return nil, fmt.Errorf("line %d: %q is on line %d already: leave one out", number, s.Name, first)
		}
		seen[s.Name] = number
		all = append(all, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w: a line is the path of a clip, of at most %d bytes", number+1, err, listLine)
	}
	if len(all) == 0 {
		return nil, errors.New("no line names a clip")
	}
	return all, nil
}

// isSystem reports whether a failure would hit any clip.
func isSystem(err error) bool {
	system := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN}
	return slices.ContainsFunc(system, func(kind error) bool { return errors.Is(err, kind) })
}
