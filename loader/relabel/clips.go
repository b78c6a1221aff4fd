package relabel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"nmn/loader"
)

// Clips writes a file of labels of clips as loader.WriteClipLabels writes it, with corrected labels by name. Lines whose
// labels stay remain byte for byte, and of others all but the labels does. Where labels come from captions, in which they
// cannot be corrected, those of all lines are written by name instead, and l needs the rows of all clips; the captions
// and their counts are left out. rows counts the lines that have changed.
func Clips(ctx context.Context, from string, captioned bool, l Labels, to string) (rows int, err error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	return rewrite(ctx, from, to, func(in io.Reader, out io.Writer) (int, error) {
		return l.editClips(ctx, in, out, captioned)
	})
}

func (l *Labels) editClips(ctx context.Context, in io.Reader, out io.Writer, captioned bool) (changed int, err error) {
	lines, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return changed, err
		}
		ended, other := err != nil, false
		if len(bytes.TrimSpace(line)) > 0 {
			switch {
			case number == 1 && captioned:
				line, err = withoutCaptions(line)
			case number == 1:
				err = nil
			default:
				line, other, err = l.clip(line, captioned)
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return changed, fmt.Errorf("line %d: %w", number, err)
			}
		}
		if other {
			changed++
		}
		_, _ = w.Write(line) // Flush says so
		if ended {
			return changed, w.Flush()
		}
	}
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
	return encoded(header)
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
		line, err := encoded(c)
		return line, true, err
	case !changed:
		return line, false, nil
	}
	if names == nil {
		names = []string{}
	}
	value, err := encoded(names)
	if err != nil {
		return nil, false, err
	}
	value = bytes.TrimSpace(value)
	start, end, err := valueOf(line, "labels")
	if errors.Is(err, ErrForm) { // a clip that had none
		end = bytes.LastIndexByte(line, '}')
		start, value = end, append([]byte(`,"labels":`), value...)
	} else if err != nil {
		return nil, false, err
	}
	return bytes.Join([][]byte{line[:start], value, line[end:]}, nil), true, nil
}

// encoded is a value in a line of JSON, with letters as they are.
func encoded(value any) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return line.Bytes(), err
}
