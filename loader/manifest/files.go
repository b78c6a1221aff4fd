package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"nmn/loader"
	"nmn/loader/picture"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// FindFiles looks for the files of all rows in a folder, without reading them, where reading the manifest has not found
// them there. A link that leads out of
// the folder is an error. Rows that lack a file go to leftOut and are dropped; where it is nil they are an
// error that wraps fs.ErrNotExist.
func (m *Manifest) FindFiles(ctx context.Context, folder string, leftOut func(error)) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("manifest %q: cannot open the folder of its pictures: %w", m.File, err)
	}
	defer root.Close()
	if m.found {
		return nil
	}
	missing, all := 0, len(m.Rows)
	var first []string
	var failed error
	m.Rows = slices.DeleteFunc(m.Rows, func(row Row) bool {
		if failed == nil {
			failed = ctx.Err()
		}
		if failed != nil {
			return false
		}
		file, err := lacking(root, &row)
		if err != nil {
			failed = fmt.Errorf(
				"manifest %q, %s: the file %q cannot be used: %w; put the picture itself into %q: %w",
				m.File, row.at(), loader.Excerpt(file), err, folder, loader.ErrAnnotations)
		}
		if err != nil || file == "" {
			return false
		}
		if missing++; leftOut != nil {
			leftOut(fmt.Errorf("%s: there is no file %q in %q", row.at(), loader.Excerpt(file), folder))
		} else if len(first) < 3 {
			first = append(first, fmt.Sprintf("%q (%s)", loader.Excerpt(file), row.at()))
		}
		return true
	})
	switch {
	case failed != nil:
		return failed
	case missing > 0 && leftOut == nil:
		return fmt.Errorf("manifest %q: %d of %d rows have no file in %q, first %s; complete the folder, name it "+
			"with `data.images`, or leave them out (`data.max_bad_samples`): %w",
			m.File, missing, all, folder, strings.Join(first, ", "), fs.ErrNotExist)
	case len(m.Rows) == 0:
		return fmt.Errorf(
			"manifest %q: none of %d rows has its file in %q; name the folder of the pictures with `data.images`",
			m.File, all, folder)
	}
	return nil
}

// lacking returns the first file of a row that is not there, empty for none. With an error it is the one
// that leads out of the folder or cannot be looked at.
func lacking(root *os.Root, row *Row) (string, error) {
	for _, file := range row.Files {
		info, err := root.Stat(filepath.FromSlash(file))
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR):
			return file, nil
		case err != nil:
			return file, err
		case !info.Mode().IsRegular():
			return file, nil
		}
	}
	return "", nil
}

// Source reads the pictures of rows: bag i has the files of row i as its frames.
type Source struct {
	manifest string
	lines    []int // of the rows; 0 for those without one
	files    *loader.FileSource
	offsets  []int // files offsets[i] to offsets[i+1]-1 are the frames of row i
}

func newSource(manifest, folder string, rows []*Row) (*Source, error) {
	offsets, lines := make([]int, len(rows)+1), make([]int, len(rows))
	var files []string
	for i, row := range rows {
		lines[i] = row.Line
		files = append(files, row.Files...)
		offsets[i+1] = len(files)
	}
	source, err := loader.NewFileSource(folder, files)
	if err != nil {
		return nil, err
	}
	return &Source{manifest: manifest, lines: lines, files: source, offsets: offsets}, nil
}

// Close closes the folder. Reads that follow fail.
func (s *Source) Close() error { return s.files.Close() }

// Frames is the number of files of a row.
func (s *Source) Frames(bag int) int { return s.offsets[bag+1] - s.offsets[bag] }

// Read decodes a frame; see FileSource. The error names the row of the manifest too.
func (s *Source) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	file, err := s.place(bag, frame)
	if err != nil {
		return err
	}
	return s.inRow(bag, s.files.Read(ctx, file, 0, pic))
}

// inRow adds to an error the row of the file that cannot be used.
func (s *Source) inRow(bag int, err error) error {
	if err == nil {
		return nil
	}
	if s.lines[bag] == 0 { // the error names the file, which is all that there is to say
		return fmt.Errorf("%s: %w", s.manifest, err)
	}
	return fmt.Errorf("%s, line %d: %w", s.manifest, s.lines[bag], err)
}

// place is the file of a frame.
func (s *Source) place(bag, frame int) (file int, err error) {
	if bag < 0 || bag >= len(s.lines) || frame < 0 || frame >= s.Frames(bag) {
		return 0, fmt.Errorf("pictures: there is no frame %d of bag %d among %d bags", frame, bag, len(s.lines))
	}
	return s.offsets[bag] + frame, nil
}

// Identity names the file of a frame; see loader.Identity.
func (s *Source) Identity(ctx context.Context, bag, frame int) (string, error) {
	file, err := s.place(bag, frame)
	if err != nil {
		return "", err
	}
	return s.files.Identity(ctx, file, 0)
}

// WithMaxPixels is a source of the same files that refuses pictures of more than n pixels.
func (s *Source) WithMaxPixels(n int) (loader.Source, error) {
	limits := s.files.Limits()
	limits.MaxPixels = n
	files, err := s.files.WithLimits(limits)
	if err != nil {
		return nil, err
	}
	return &Source{manifest: s.manifest, lines: s.lines, files: files, offsets: s.offsets}, nil
}

// encoded reads the file of a frame as it is stored; see ReadEncoded.
func (s *Source) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	file, err := s.place(bag, frame)
	if err != nil {
		return buffer, err
	}
	buffer, err = loader.ReadEncoded(ctx, s.files, file, 0, buffer)
	return buffer, s.inRow(bag, err)
}
