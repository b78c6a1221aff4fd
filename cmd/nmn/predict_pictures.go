package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	dense "gorgonia.org/tensor"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/text"
)

// pictureEndings are those of files that a folder is searched for.
var pictureEndings = []string{".jpg", ".jpeg", ".png"}

// findPictures lists the pictures of files and folders, each folder in lexical order. Links in a
// folder count as what they lead to.
func findPictures(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("cannot find the pictures: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type()&^fs.ModeSymlink == 0 && slices.Contains(pictureEndings, strings.ToLower(filepath.Ext(file))) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("cannot search %s: %w", path, err)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) == 0 {
		return nil, usagef("there is no picture (.jpg, .jpeg, .png) in %s", strings.Join(paths, ", "))
	}
	return files, nil
}

// pictureIDs names pictures in a table: those of one folder by their path in it, as the files that they
// are joined with do, and others by the path that was given.
func pictureIDs(paths, files []string) []string {
	if len(paths) != 1 || paths[0] == files[0] {
		return files
	}
	ids := make([]string, len(files))
	for i, file := range files {
		inside, err := filepath.Rel(paths[0], file)
		if err != nil {
			return files
		}
		ids[i] = filepath.ToSlash(inside)
	}
	return ids
}

// pictureSet are pictures that nobody has labels of.
func pictureSet(files []string, v *text.Vocabulary, maxPixels int) *loader.Set {
	return &loader.Set{Name: "pictures", Vocabulary: v, IDs: files, Labels: unknownLabels(len(files), v.Len()),
		Source: &pathSource{files, maxPixels, int64(picture.DefaultLimits().MaxBytes)}}
}

// unknownLabels stand where a Set needs labels and nobody reads them.
func unknownLabels(bags, classes int) *dense.Dense {
	return dense.New(dense.WithShape(bags, classes), dense.WithBacking(make([]uint8, bags*classes)))
}

// tellLeftOut says what of a set could not be read, and why.
func tellLeftOut(p *program, bad []loader.BadSample, set *loader.Set) {
	for _, b := range bad {
		fmt.Fprintf(p.err, "left out: %s\n", withFlags(b.Err.Error()))
	}
	if len(bad) > 0 {
		fmt.Fprintf(p.err, "%d of %d %s could not be read and are left out\n", len(bad), set.Len(), dataset.Noun(set))
	}
}

// pathSource reads pictures from anywhere.
type pathSource struct {
	files     []string
	maxPixels int
	maxBytes  int64
}

func (s *pathSource) Frames(int) int { return 1 }

func (s *pathSource) Read(ctx context.Context, bag, _ int, pic *picture.Picture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := s.load(s.files[bag])
	if err == nil {
		err = picture.Decode(data, pic, s.maxPixels)
	}
	if err != nil && !errors.Is(err, loader.ErrCorrupt) {
		err = fmt.Errorf("%w: %w", loader.ErrCorrupt, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.files[bag], err)
	}
	return nil
}

func (s *pathSource) load(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > s.maxBytes {
		return nil, fmt.Errorf("not a regular file of at most %d bytes", s.maxBytes)
	}
	return os.ReadFile(file)
}
