package captioner

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/input"
)

// maxClipFrames bounds the frames of a clip.
const maxClipFrames = 10_000

// readClipRows reads the rows of each clip in a file of features, see parseClipRows.
func readClipRows(path string, rows int) (clips []clipRows, err error) {
	file, err := input.OpenFile(path)
	if err != nil {
		return nil, fmt.Errorf("clips: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return parseClipRows(path, file, rows)
}

// parseClipRows reads the table that `extract.output_clips` writes: clip, first row from 0, number of
// rows. Each row belongs to one clip. Errors wrap ErrFormat and name file and line.
func parseClipRows(name string, r io.Reader, rows int) ([]clipRows, error) {
	fail := func(line int, err error) ([]clipRows, error) {
		return nil, fmt.Errorf("clips %q, line %d: %w: %w", name, line, err, ErrFormat)
	}
	table := csv.NewReader(r)
	table.FieldsPerRecord = 3
	header, err := table.Read()
	if err != nil || !slices.Equal(header, []string{"clip", "first", "rows"}) {
		return fail(1,
			errors.Join(errors.New("want the header clip,first,rows, as `extract.output_clips` writes it"), err))
	}
	var clips []clipRows
	seen := map[string]int{}
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // it names the line
			return nil, fmt.Errorf("clips %q: %w: %w", name, err, ErrFormat)
		}
		line, _ := table.FieldPos(0)
		c, err := parseClip(record, rows)
		if err != nil {
			return fail(line, err)
		}
		if first, repeated := seen[c.id]; repeated {
			return fail(line, fmt.Errorf("clip %.80q repeats line %d", c.id, first))
		}
		if last := len(clips) - 1; last >= 0 && c.first < clips[last].first+clips[last].rows {
			return fail(line, fmt.Errorf("clip %.80q begins at row %d, which is one of clip %.80q or before it",
				c.id, c.first, clips[last].id))
		}
		seen[c.id] = line
		clips = append(clips, c)
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("clips %q: there are none: %w", name, ErrFormat)
	}
	return clips, nil
}

func parseClip(record []string, rows int) (c clipRows, err error) {
	c.id = strings.Clone(record[0])
	if c.id == "" {
		return c, errors.New("the clip has no name")
	}
	for i, number := range []*int{&c.first, &c.rows} {
		if *number, err = strconv.Atoi(record[i+1]); err != nil || *number < i {
			return c, fmt.Errorf("clip %.80q: %.40q is not a whole number of at least %d", c.id, record[i+1], i)
		}
	}
	if c.rows > maxClipFrames {
		return c, fmt.Errorf("clip %.80q has %d frames, at most %d can be captioned", c.id, c.rows, maxClipFrames)
	}
	if c.first > rows-c.rows {
		return c, fmt.Errorf("clip %.80q has rows %d to %d, the features have %d: are they of another file?",
			c.id, c.first, c.first+c.rows-1, rows)
	}
	return c, nil
}
