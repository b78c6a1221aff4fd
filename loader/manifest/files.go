package manifest

import (
	"context"
	"fmt"

	"nmn/loader"
	"nmn/loader/picture"
)

// Source reads the pictures of rows: bag i has the files of row i as its frames.
type Source struct {
	manifest string
	lines    []int // line of each row; 0 for rows without one
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
		return 0, fmt.Errorf("pictures: there is no frame %d of sample %d among %d samples", frame, bag, len(s.lines))
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

// encoded reads the file of a frame as it is stored; see ReadEncoded.
func (s *Source) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	file, err := s.place(bag, frame)
	if err != nil {
		return buffer, err
	}
	buffer, err = loader.ReadEncoded(ctx, s.files, file, 0, buffer)
	return buffer, s.inRow(bag, err)
}
