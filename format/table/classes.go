package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
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
	gaps  bool // labels may be unknown
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
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &Classes{Name: path, gaps: gaps}
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".csv":
		return c, c.readCSV(f, words, classes)
	case ".npy":
		return c, c.readNPY(f, f.Size(), classes)
	default:
		return nil, fmt.Errorf("%s: file type %q, want .csv or .npy: %w", path, ext, ErrFormat)
	}
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
	limited := &recordReader{r: skipByteOrderMark(bufio.NewReaderSize(f, 1<<16)), left: maxRecord}
	header, err := csv.NewReader(limited).Read()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %w", path, ErrFormat, err)
	}
	if strings.TrimSpace(header[0]) == idColumn {
		return len(header) - 1, nil
	}
	return len(header), nil
}

func (c *Classes) readNPY(r io.Reader, size int64, classes int) error {
	b := bufio.NewReaderSize(r, 1<<16)
	h, headerBytes, err := npy.ReadHeader(b)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", c.Name, err, ErrFormat)
	}
	if len(h.Shape) != 1 && !(len(h.Shape) == 2 && h.Shape[1] == 1) || h.Shape[0] < 1 {
		return fmt.Errorf("%s: array of shape %v, want one label for each sample: %w", c.Name, h.Shape, ErrShape)
	}
	if want := headerBytes + int64(h.Shape[0])*int64(h.Width); size >= 0 && size != want {
		return fmt.Errorf("%s: %d bytes, want %d for %d of %q (cut short, or another file appended): %w",
			c.Name, size, want, h.Shape[0], h.Descr, ErrShape)
	}
	element := make([]byte, h.Width)
	for i := range h.Shape[0] {
		if _, err := io.ReadFull(b, element); err != nil {
			return fmt.Errorf("%s: file ends at label %d of %d: %w", c.Name, i+1, h.Shape[0], ErrShape)
		}
		v := h.Float64(element)
		if c.gaps && isGap(v) {
			v = UnknownClass
		} else if !wholeUpTo(v, classes-1) {
			return fmt.Errorf("%s: label %d is %v, want the number of a class, 0 to %d: %w", c.Name, i+1, v, classes-1,
				ErrValue)
		}
		c.Values = append(c.Values, int32(v))
	}
	return nil
}

func (c *Classes) readCSV(r io.Reader, words []string, classes int) error {
	limited := &recordReader{r: skipByteOrderMark(bufio.NewReaderSize(r, 1<<16)), left: maxRecord}
	rows := csv.NewReader(limited)
	rows.FieldsPerRecord, rows.ReuseRecord = -1, true
	header, err := rows.Read()
	if err != nil {
		return fmt.Errorf("%s: %w: %w", c.Name, ErrFormat, err)
	}
	first := 0
	if strings.TrimSpace(header[0]) == idColumn {
		first = 1
	}
	if len(header) != first+1 {
		return fmt.Errorf("%s:1: %d columns, want one label for each sample, and at most id before it: %w", c.Name,
			len(header), ErrFormat)
	}
	c.Column = strings.Clone(strings.TrimSpace(header[first]))
	if _, err := strconv.ParseFloat(c.Column, 64); err == nil {
		return fmt.Errorf("%s:1: the first line holds a number, want a heading such as label: %w", c.Name, ErrFormat)
	}
	at, err := names("the scores", "class", words)
	if err != nil {
		return err
	}
	named, known := 0, 0
	for {
		limited.left = maxRecord
		record, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", c.Name, ErrFormat, err)
		}
		line, _ := rows.FieldPos(0)
		if len(record) != first+1 {
			return fmt.Errorf("%s:%d: %d fields, the header has %d: %w", c.Name, line, len(record), first+1, ErrShape)
		}
		if first == 1 {
			c.IDs = append(c.IDs, strings.Clone(strings.TrimSpace(record[0])))
		}
		field := strings.TrimSpace(record[first])
		class, isWord := at[field]
		if !isWord && c.gaps && isGapText(field) {
			c.Values = append(c.Values, UnknownClass)
			continue
		}
		if !isWord {
			class, err = strconv.Atoi(field)
			if err != nil || class < 0 || class >= classes {
				return fmt.Errorf("%s:%d: label %.60q is neither a class of the scores nor the number of one, 0 to %d: %w",
					c.Name, line, field, classes-1, ErrValue)
			}
		} else {
			named++
		}
		if known++; named > 0 && named != known {
			return fmt.Errorf("%s:%d: label %.60q: some labels are classes of the scores and some are numbers; write all of "+
				"them as names: %w", c.Name, line, field, ErrValue)
		}
		c.Values = append(c.Values, int32(class))
	}
	if len(c.Values) == 0 {
		return fmt.Errorf("%s: a header but no rows: %w", c.Name, ErrFormat)
	}
	c.Named = named > 0
	return nil
}

// isGapText reports whether a field is an unknown label.
func isGapText(field string) bool {
	v, err := strconv.ParseFloat(field, 64)
	return field == "" || err == nil && isGap(v)
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
