package relabel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"nmn/loader"
)

// Clips writes a file of labels of clips as loader.WriteClipLabels writes it, with corrected labels by name.
// Lines with unchanged labels remain byte for byte. In other lines everything but the labels remains.
// Captions cannot be corrected, so if labels come from captions, the labels of all lines are written by name
// instead, and l needs the rows of all clips; the captions and their counts are left out. rows counts the
// lines that have changed.
func Clips(ctx context.Context, from string, captioned bool, l Labels, to string) (rows int, err error) {
	return l.rewrite(ctx, from, to, func(in io.Reader, out io.Writer) (int, error) {
		return editLines(in, out, func(line []byte, number int) (edited []byte, other bool, err error) {
			switch {
			case number == 1 && captioned:
				edited, err = withoutCaptions(line)
			case number == 1:
				edited = line
			default:
				edited, other, err = l.clip(line, captioned)
			}
			return edited, other, errors.Join(err, ctx.Err())
		})
	})
}

// withoutCaptions is the header of a file of labels by name.
func withoutCaptions(line []byte) ([]byte, error) {
	var header struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Truth   bool   `json:"truth,omitempty"`
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return nil, fmt.Errorf("not the header of a file of labels: %w: %w", err, ErrForm)
	}
	line, err := jsonOf(header)
	return append(line, '\n'), err
}

// clip is the line of a clip with its labels.
func (l *Labels) clip(line []byte, captioned bool) (edited []byte, changed bool, err error) {
	var c loader.ClipLabel
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, false, fmt.Errorf("not the labels of a clip: %w: %w", err, ErrForm)
	}
	names, changed := l.Names(c.Clip, c.Labels)
	switch {
	case captioned:
		c.Captions, c.Counts, c.Labels = nil, nil, names
		line, err := jsonOf(c)
		return append(line, '\n'), true, err
	case !changed:
		return line, false, nil
	}
	if names == nil {
		names = []string{}
	}
	value, err := jsonOf(names)
	if err != nil {
		return nil, false, err
	}
	start, end, err := valueOf(line, "labels")
	if errors.Is(err, ErrForm) { // a clip that had none
		end = bytes.LastIndexByte(line, '}')
		start, value = end, append([]byte(`,"labels":`), value...)
	} else if err != nil {
		return nil, false, err
	}
	return slices.Concat(line[:start], value, line[end:]), true, nil
}
