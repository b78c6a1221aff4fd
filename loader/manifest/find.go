package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	slashed "path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"nmn/internal/fault"
	"nmn/internal/input"
	"nmn/loader"
	"nmn/loader/picture"
)

// FindFiles looks for the files of all rows, without reading them, unless they were found when the manifest was read.
// Relative paths begin in a folder, and links are followed. A path may have backslashes for slashes, and may lack the
// ending of its file. Rows whose picture has no usable name or file go to leftOut and are dropped. If leftOut is nil,
// they are an error, which wraps fs.ErrNotExist if all of them lack a file.
func (m *Manifest) FindFiles(ctx context.Context, folder string, leftOut func(error)) error {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is no folder", folder)
	}
	if err != nil {
		return fmt.Errorf("manifest %q: cannot open the folder of its pictures: %w", m.File, err)
	}
	if m.found {
		return nil
	}
	find := finder{folder: folder, alike: loader.NewAlikeFiles(folder)}
	var lost faults
	all := len(m.Rows)
	var failed error
	m.Rows = slices.DeleteFunc(m.Rows, func(row Row) bool {
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil {
			return false
		}
		err := find.row(&row)
		switch {
		case err == nil:
			return false
		case errors.Is(err, syscall.EIO):
			failed = fmt.Errorf("manifest %q, %s: %w", m.File, row.At(), err)
			return false
		}
		err = fmt.Errorf("%s: %w", row.At(), err)
		if leftOut != nil {
			leftOut(err)
		}
		lost.add(err)
		return true
	})
	switch {
	case failed != nil:
		return failed
	case lost.n > 0 && leftOut == nil:
		return fmt.Errorf("manifest %q: %w", m.File, lost.error(all))
	case len(m.Rows) == 0:
		return fmt.Errorf("manifest %q: none of %d rows has a usable picture, first %w; name the folder of the pictures "+
			"with `data.images`", m.File, all, lost.first[0])
	}
	return nil
}

// faults are rows that cannot be used.
type faults struct {
	n, none int // none have no file
	first   []error
}

func (f *faults) add(err error) {
	f.n++
	if errors.Is(err, fs.ErrNotExist) {
		f.none++
	}
	if len(f.first) < 3 {
		f.first = append(f.first, err)
	}
}

// error names the first rows, among all rows.
func (f *faults) error(all int) error {
	var first []string
	for _, err := range f.first {
		first = append(first, err.Error())
	}
	lack, cure, kind := "have no usable picture", "correct the rows", loader.ErrAnnotations
	if f.none == f.n {
		lack, cure, kind = "have no file", "complete the folder, name it with `data.images`", fs.ErrNotExist
	}
	if f.n == 1 {
		lack = strings.Replace(lack, "have", "has", 1)
	}
	return fmt.Errorf("%d of %d rows %s, first %s; %s, or leave them out (`data.max_bad_samples`): %w", f.n, all, lack,
		strings.Join(first, ", "), cure, kind)
}

// finder finds the files of rows.
type finder struct {
	folder string // in which relative paths begin
	alike  *loader.AlikeFiles
}

// row replaces the files of a row by the files found.
func (f *finder) row(row *Row) error {
	if row.fault != nil {
		return row.fault
	}
	for i, file := range row.Files {
		found, err := f.file(file)
		if err != nil {
			return err
		}
		row.Files[i] = found
	}
	return nil
}

// file is the path under which a file is there: as it is written, or with slashes for backslashes, or as AlikeFiles
// finds it.
func (f *finder) file(written string) (string, error) {
	err := f.usable(written)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return written, err
	}
	for _, file := range slices.Compact([]string{written, strings.ReplaceAll(written, `\`, "/"), unescaped(written)}) {
		if file != written && f.usable(file) == nil {
			return file, nil
		}
		alike, wrong := f.alike.Find(file)
		name := slashed.Base(file)
		switch {
		case wrong != nil:
			return "", wrong
		case len(alike) > 1 && !picture.IsName(name):
			return "", fmt.Errorf("%q may be %s; write the ending", loader.Excerpt(written),
				strings.Join(each(alike, slashed.Ext), " or "))
		case len(alike) > 1:
			return "", fmt.Errorf("%q may be %s; write the name as the file has it", loader.Excerpt(written),
				strings.Join(each(alike, slashed.Base), " or "))
		case len(alike) == 1:
			return alike[0], f.usable(alike[0])
		}
	}
	return "", err
}

// each are strings after a function of each.
func each(texts []string, of func(string) string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = of(text)
	}
	return out
}

// unescaped returns the path of a URL such as file:///my%20pictures/1.jpg, or of a path with such escapes.
func unescaped(written string) string {
	path, err := url.PathUnescape(strings.TrimPrefix(written, "file://"))
	if err != nil {
		return written
	}
	return path
}

// usable returns why a path does not lead to a regular file; links are followed.
func (f *finder) usable(file string) error {
	path, name := loader.PathIn(f.folder, file), loader.Excerpt(file)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return nil
	case err == nil:
		return fmt.Errorf("%q is %s", name, input.Kind(info.Mode()))
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%q is a link that leads back to itself", name)
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		if to, err := os.Readlink(path); err == nil {
			return fault.Newf(fs.ErrNotExist, "%q is a link to %q, which is not there", name, loader.Excerpt(to))
		}
		if filepath.IsAbs(filepath.FromSlash(file)) {
			return fault.Newf(fs.ErrNotExist, "there is no file %q", name)
		}
		return fault.Newf(fs.ErrNotExist, "there is no file %q in %q", name, f.folder)
	}
	return fmt.Errorf("%q: %w", name, err)
}
