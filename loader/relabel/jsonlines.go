package relabel

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"nmn/loader/annotation"
)

// jsonLines describes the labels in JSON lines.
type jsonLines struct {
	labels    *Labels
	key       string // key of the labels
	separator string // separator if they are one text
	// id gives the bag of a row by its line, its number from 0 and its text; empty for none.
	id func(line, row int, text []byte) string
	// current and stated are as in a sheet; names are written as JSON.
	current func(line int) []string
	stated  map[string]string
	// plan and confidence are as in a sheet; confidence is a key.
	plan       pairPlan
	confidence string
}

// edit copies the lines with the labels as they should be.
func (j *jsonLines) edit(in io.Reader, out io.Writer) (changed int, err error) {
	row := -1
	return editLines(in, out, func(line []byte, number int) ([]byte, bool, error) {
		row++
		if j.plan != nil {
			edited, err := j.planned(line, number)
			return edited, true, err
		}
		return j.line(line, number, j.id(number, row, line))
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

// line is a line with the labels of its bag.
func (j *jsonLines) line(line []byte, number int, id string) (edited []byte, changed bool, err error) {
	if _, ok := j.labels.Rows[id]; !ok {
		return line, false, nil
	}
	start, end, err := valueOf(line, j.key)
	if err != nil {
		return nil, false, err
	}
	if j.stated != nil {
		names, changed := j.labels.Names(id, j.current(number))
		if !changed {
			return line, false, nil
		}
		value := `""` // which is a list of nothing, too
		if len(names) > 0 {
			value = j.stated[names[0]]
		}
		return slices.Concat(line[:start], []byte(value), line[end:]), true, nil
	}
	var current []string
	style := list{array: true, blank: bytes.Contains(line[start:end], []byte(", "))}
	var one string
	if json.Unmarshal(line[start:end], &one) == nil {
		current, style = parse(one, j.separator, list{separator: j.separator})
	} else if err := json.Unmarshal(line[start:end], &current); err != nil {
		return nil, false, fmt.Errorf("%s is no list of names: %w", j.key, ErrForm)
	}
	names, changed := j.labels.Names(id, current)
	if !changed {
		return line, false, nil
	}
	value := []byte(style.cell(names))
	if line[start] == '"' {
		value = jsonName(string(value))
	}
	return slices.Concat(line[:start], value, line[end:]), true, nil
}

// planned returns the copies of a line of a picture and a label.
func (j *jsonLines) planned(line []byte, number int) ([]byte, error) {
	names, ok := j.plan[number]
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
			value = j.stated[name]
		}
		edited, err := withValue(body, j.key, value)
		if err == nil && j.confidence != "" && name != "" {
			if _, _, none := valueOf(edited, j.confidence); none == nil {
				edited, err = withValue(edited, j.confidence, "1")
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
