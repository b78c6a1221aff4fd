package table

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nmn/format/npy"
	"nmn/internal/input"
)

// Classes is a file with one label for each bag, of classes that exclude each other.
type Classes struct {
	Name   string
	Column string   // heading; empty for .npy
	IDs    []string // of the rows; nil if the file has no "id" column
	Values []int32  // numbers of classes, from 0
	// Named reports whether the file names classes instead of giving their numbers.
	Named bool
}

// UnknownClass is the class of a bag whose label is unknown.
const UnknownClass = -1

// OnlyClass returns the class of a row of labels if exactly one label is 1, and UnknownClass otherwise.
func OnlyClass(labels []uint8) int32 {
	class := slices.Index(labels, 1)
	if class < 0 || slices.Contains(labels[class+1:], 1) {
		return UnknownClass
	}
	return int32(class)
}

// ReadClasses reads one label for each bag from a .npy array of shape [N] or [N, 1], or from a .csv with one
// column and optionally "id". Labels are the numbers 0 to classes-1, or the words of the classes, if there
// are some. With gaps a label may be unknown: -1 or NaN, in a .csv also an empty field. It is UnknownClass
// then. Errors wrap ErrFormat, ErrShape, ErrValue or ErrNames, or come from the file system.
func ReadClasses(path string, words []string, classes int, gaps bool) (*Classes, error) {
	at, err := names("the scores", "class", words)
	if err != nil {
		return nil, err
	}
	named, known := 0, 0
	m, err := readMatrix(path, cellRule{single: true, gaps: gaps, gap: UnknownClass,
		parse: func(field string) (float64, error) {
			class, isWord := at[field]
			v := float64(class)
			if isWord {
				named++
			} else if v, err = parseNumber(field, gaps); err != nil {
				return 0, fmt.Errorf("label %.60q is neither a class of the scores nor the number of one, 0 to %d: %w", field,
					classes-1, ErrValue)
			} else if gaps && isGap(v) {
				return v, nil
			}
			if known++; named > 0 && named != known {
				return 0, fmt.Errorf("label %.60q: some labels are classes of the scores and some are numbers; write all of "+
					"them as names: %w", field, ErrValue)
			}
			return v, nil
		},
		fault: func(v float64) error {
			if !wholeUpTo(v, classes-1) && !(gaps && isGap(v)) {
				return fmt.Errorf("label %v, want a class of the scores or its number, 0 to %d: %w", v, classes-1, ErrValue)
			}
			return nil
		}})
	if err != nil {
		return nil, err
	}
	c := &Classes{Name: path, IDs: m.IDs, Named: named > 0, Values: make([]int32, m.Rows)}
	if m.Words != nil {
		c.Column = m.Words[0]
	}
	for i, v := range m.Values {
		c.Values[i] = int32(v)
	}
	return c, nil
}

// Columns is the number of columns of a .csv or .npy file, without "id": 1 for an array of shape [N].
func Columns(path string) (int, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if strings.ToLower(filepath.Ext(path)) == ".npy" {
		h, _, err := npy.ReadHeader(bufio.NewReader(f))
		if err != nil {
			return 0, fmt.Errorf("%s: %w: %w", path, err, ErrFormat)
		}
		if len(h.Shape) == 2 {
			return h.Shape[1], nil
		}
		return 1, nil
	}
	header, err := csv.NewReader(newRecordReader(f)).Read()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %w", path, ErrFormat, err)
	}
	if isIDs(header[0]) {
		return len(header) - 1, nil
	}
	return len(header), nil
}

// For returns the labels in the order of the rows of scores: by name if both have names, else in their own
// order.
func (c *Classes) For(scores *Matrix) ([]int32, error) {
	m := &Matrix{Name: c.Name, IDs: c.IDs, Rows: len(c.Values)}
	if m.Rows != scores.Rows {
		return nil, differentRows(scores, m)
	}
	rows, err := m.rowsFor(scores)
	if err != nil || rows == nil {
		return slices.Clip(c.Values), err
	}
	out := make([]int32, len(rows))
	for i, row := range rows {
		out[i] = c.Values[row]
	}
	return out, nil
}
