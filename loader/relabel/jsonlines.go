package relabel

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"nmn/loader"
	"nmn/loader/annotation"
)

// lines copies JSON lines with the labels as they should be.
func (s *editor) lines(in io.Reader, out io.Writer) (changed int, err error) {
	row := -1
	return editLines(in, out, func(line []byte, number int) ([]byte, bool, error) {
		row++
		if s.plan != nil {
			edited, err := s.plannedLine(line, number)
			return edited, true, err
		}
		return s.line(line, number, s.id(number, row, func(key string) (text string) {
			if start, end, err := valueOf(line, key); err == nil {
				_ = json.Unmarshal(line[start:end], &text) // other values are refused when they are read
			}
			return text
		}))
	})
}

// editLines copies lines after editing them; blank lines are copied unchanged. Lines are numbered from 1, and
// errors name the line. changed counts the lines that edit has changed.
func editLines(in io.Reader, out io.Writer,
	edit func(line []byte, number int) (edited []byte, other bool, err error)) (changed int, err error) {
	lines, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return changed, err
		}
		ended := err != nil
		if len(bytes.TrimSpace(line)) > 0 {
			edited, other, err := edit(line, number)
			if err != nil {
				return changed, fmt.Errorf("line %d: %w", number, err)
			}
			if line = edited; other {
				changed++
			}
		}
		_, _ = w.Write(line) // Flush returns the error
		if ended {
			return changed, w.Flush()
		}
	}
}

func (s *editor) line(line []byte, number int, id string) (edited []byte, changed bool, err error) {
	if _, ok := s.labels.Rows[id]; !ok {
		return line, false, nil
	}
	start, end, err := valueOf(line, s.list)
	if err != nil {
		return nil, false, err
	}
	value, cell := line[start:end], string(line[start:end])
	text := json.Unmarshal(value, &cell) == nil
	if !text && s.stated == nil && json.Unmarshal(value, new([]string)) != nil {
		return nil, false, fmt.Errorf("%s is no list of names: %w", s.list, ErrForm)
	}
	cell, changed = s.restated(number, id, cell, &list{separator: s.separator})
	switch {
	case !changed:
		return line, false, nil
	case s.stated != nil:
		cell = cmp.Or(cell, `""`) // which is a list of nothing, too
	case text:
		cell = string(jsonName(cell))
	}
	return slices.Concat(line[:start], []byte(cell), line[end:]), true, nil
}

// plannedLine returns the copies of a line of a picture and a label.
func (s *editor) plannedLine(line []byte, number int) ([]byte, error) {
	names, ok := s.plan[number]
	if !ok {
		return line, nil
	}
	body, end := lineEnd(line)
	var copies [][]byte
	for _, name := range names {
		if name == same {
			copies = append(copies, body)
			continue
		}
		value := `""` // which is a list of nothing, too
		if name != "" {
			value = s.stated[name]
		}
		edited, err := withValue(body, s.list, value)
		if err == nil && s.confidence != "" && name != "" {
			if _, _, none := valueOf(edited, s.confidence); none == nil {
				edited, err = withValue(edited, s.confidence, "1")
			}
		}
		if err != nil {
			return nil, err
		}
		copies = append(copies, edited)
	}
	if len(copies) == 0 {
		return nil, nil
	}
	return append(bytes.Join(copies, []byte(cmp.Or(end, "\n"))), end...), nil
}

// valueOf finds the value of a key of an object; see annotation.ValueOf.
func valueOf(line []byte, key string) (start, end int, err error) {
	if start, end, err = annotation.ValueOf(line, key); err != nil {
		err = fmt.Errorf("%w: %w", err, ErrForm)
	}
	return start, end, err
}

// withValue is an object of JSON with another value of a key.
func withValue(line []byte, key, value string) ([]byte, error) {
	start, end, err := valueOf(line, key)
	if err != nil {
		return nil, err
	}
	return slices.Concat(line[:start], []byte(value), line[end:]), nil
}

// Clips writes a file of labels of clips as loader.WriteClipLabels writes it, with corrected labels by name. Lines with
// unchanged labels remain byte for byte. In other lines everything but the labels remains. Captions cannot be
// corrected, so if labels come from captions, the labels of all lines are written by name instead, and l needs the rows
// of all clips; the captions and their counts are left out. rows counts the lines that have changed.
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
