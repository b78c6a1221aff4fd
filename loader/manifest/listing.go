package manifest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	slashed "path"
	"slices"
	"strings"

	"nmn/internal/input"
	"nmn/loader"
	"nmn/loader/picture"
)

// listing are the files and folders in a folder and in all folders in it, by their paths in it, with slashes, sorted.
// Names that begin with a dot are left out.
type listing struct {
	folder   string
	pictures []string
	others   []string
	folders  []string        // all below the folder, with those that hold nothing
	has      map[string]bool // pictures; nil until it is asked for
	odd      bool            // a picture is no regular file
}

const maxFiles = 2 * maxRows

// list searches a folder. Links to files count as files. A link to a folder is an error, because its target
// would be left out silently. Every entry with the name of a picture counts as one: a link to a missing
// target is a missing picture.
func list(ctx context.Context, folder string) (*listing, error) {
	l := &listing{folder: folder}
	err := loader.WalkFolder(ctx, folder, func(file string, entry fs.DirEntry) error {
		switch {
		case entry.IsDir():
			l.folders = append(l.folders, file)
			return nil
		case len(l.pictures)+len(l.others) == maxFiles:
			return fmt.Errorf("more than %d files", maxFiles)
		}
		regular, err := l.regular(file, entry)
		switch {
		case err != nil:
			return err
		case picture.IsName(file):
			l.pictures, l.odd = append(l.pictures, file), l.odd || !regular
		default:
			l.others = append(l.others, file)
		}
		return nil
	})
	return l, err
}

// regular reports whether an entry of the folder is a file, or a link to one.
func (l *listing) regular(file string, entry fs.DirEntry) (bool, error) {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular(), nil
	}
	info, err := os.Stat(loader.PathIn(l.folder, file))
	if err == nil && info.IsDir() {
		return false, fmt.Errorf("%q is a link to a folder; put the folder itself there", loader.Excerpt(file))
	}
	return err == nil && info.Mode().IsRegular(), nil
}

// picture reports whether there is a picture of a path.
func (l *listing) picture(file string) bool {
	if l.has == nil {
		l.has = make(map[string]bool, len(l.pictures))
		for _, p := range l.pictures {
			l.has[p] = true
		}
	}
	return l.has[file]
}

// withExtension are the files that are no pictures and whose names end in one of some ways, in either case.
func (l *listing) withExtension(extensions ...string) []string {
	return only(l.others, func(file string) bool {
		return slices.ContainsFunc(extensions, func(e string) bool { return strings.EqualFold(slashed.Ext(file), e) })
	})
}

// only are the files with a property.
func only(files []string, has func(string) bool) (some []string) {
	for _, file := range files {
		if has(file) {
			some = append(some, file)
		}
	}
	return some
}

// maxLabelFile bounds the size of a file with the labels of one picture, or with the classes.
const maxLabelFile = 16 << 20

// read hands a file of the folder to a function. An error names the file.
func (l *listing) read(file string, use func(io.Reader) error) error {
	f, err := input.OpenFile(loader.PathIn(l.folder, file))
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Size() > maxLabelFile {
		err = fmt.Errorf("%d bytes, at most %d describe one picture", f.Size(), maxLabelFile)
	} else {
		err = use(io.LimitReader(f, maxLabelFile))
	}
	if err != nil {
		return fmt.Errorf("%q: %w", file, err)
	}
	return nil
}

// splitOf finds the split that a folder on the way to a file names, such as train/images/1.jpg; empty for none.
func splitOf(file string) string {
	for dir := slashed.Dir(file); dir != "." && dir != "/"; dir = slashed.Dir(dir) {
		if split, ok := loader.SplitNamed(slashed.Base(dir)); ok {
			return split
		}
	}
	return ""
}

// swapped returns a path with the last folder called name, in either case, replaced by another; the unchanged
// path if there is none.
func swapped(path, name, other string) string {
	parts := strings.Split(path, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if strings.EqualFold(parts[i], name) {
			parts[i] = other
			break
		}
	}
	return strings.Join(parts, "/")
}

func stem(file string) string { return strings.TrimSuffix(file, slashed.Ext(file)) }
