package relabel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nmn/format/npy"
	"nmn/loader"
	"nmn/loader/features"
)

// Table describes how labels are written in a file of labels or of features.
type Table struct {
	File     string   // .csv, .tsv or .jsonl; text may be compressed
	IDs      []string // all rows, in order
	IDColumn string   // that names the bags; empty where rows are in the order of IDs
	List     string   // column of lists of names; empty where each label has a column of its own
	Join     bool     // names that differ in spelling alone are one label
}

// Text writes a table of labels with corrected labels, and returns the number of rows that it has changed.
// Every other byte stays unchanged.
func (t *Table) Text(ctx context.Context, l Labels, path string) (rows int, err error) {
	if t.Join {
		l.joinAlike()
	}
	lines := strings.HasSuffix(strings.ToLower(strings.TrimSuffix(t.File, ".gz")), ".jsonl")
	s := editor{labels: &l, list: t.List, separator: ";", id: func(_, row int, cell func(string) string) string {
		named := ""
		if lines {
			named = cell("id")
		} else if t.IDColumn != "" {
			return cell(t.IDColumn)
		}
		if named != "" || row >= len(t.IDs) {
			return named
		}
		return t.IDs[row]
	}}
	if lines {
		s.list = "labels"
		return l.rewrite(ctx, t.File, path, s.lines)
	}
	return l.rewrite(ctx, t.File, path, func(in io.Reader, out io.Writer) (int, error) {
		text := bufio.NewReaderSize(in, 1<<16)
		s.headless = numbers(firstLine(text))
		return s.table(text, out)
	})
}

// firstLine is the first line of a text, or its start; reading goes on before it.
func firstLine(text *bufio.Reader) string {
	start, _ := text.Peek(text.Size())
	first, _, _ := strings.Cut(string(start), "\n")
	return first
}

// numbers reports whether all cells of a line are numbers, so that it is no header.
func numbers(line string) bool {
	cells := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
	for _, cell := range cells {
		if _, err := strconv.ParseFloat(strings.Trim(strings.TrimSpace(cell), `"`), 64); err != nil {
			return false
		}
	}
	return len(cells) > 0
}

// Matrix writes an array of labels, a row for each of ids, with corrected labels: the type of its elements
// and their order stay unchanged.
func Matrix(ctx context.Context, file string, ids []string, l Labels, path string) (rows int, err error) {
	return l.rewrite(ctx, file, path, func(in io.Reader, out io.Writer) (int, error) {
		data, err := io.ReadAll(in)
		if err != nil {
			return 0, err
		}
		rows, err := matrix(data, ids, &l)
		if err == nil {
			_, err = out.Write(data)
		}
		return rows, err
	})
}

// matrix changes the elements of an array in place.
func matrix(data []byte, ids []string, l *Labels) (rows int, err error) {
	h, size, err := npy.ReadHeader(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	body := data[size:]
	n, k := len(ids), len(l.Words)
	if len(h.Shape) != 2 || h.Shape[0] != n || h.Shape[1] != k || len(body) < n*k*h.Width {
		return 0, fmt.Errorf("its shape is %v, want %d rows × %d classes: %w", h.Shape, n, k, ErrForm)
	}
	for i, id := range ids {
		row, ok := l.Rows[id]
		if !ok {
			continue
		}
		other := false
		for c, want := range row {
			if want == loader.UnknownLabel {
				continue // as it is
			}
			at := i*k + c
			if h.Fortran {
				at = c*n + i
			}
			element := body[at*h.Width : (at+1)*h.Width]
			if now := h.Float64(element); now == float64(want) {
				continue
			}
			copy(element, numberOf(h, want))
			other = true
		}
		if other {
			rows++
		}
	}
	return rows, nil
}

// numberOf is 0 or 1 as an element of an array.
func numberOf(h *npy.Header, v uint8) []byte {
	bits := uint64(v)
	if h.Descr[1] == 'f' && v == 1 {
		bits = map[int]uint64{2: 0x3c00, 4: uint64(math.Float32bits(1)), 8: math.Float64bits(1)}[h.Width]
	}
	element := binary.LittleEndian.AppendUint64(nil, bits)[:h.Width]
	if h.Descr[0] == '>' {
		slices.Reverse(element)
	}
	return element
}

// Columns returns the names in the header of a table; nil if the first line is already a row, or if the file
// is JSON lines.
func Columns(ctx context.Context, file string) (columns []string, err error) {
	in, err := loader.OpenText(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text := bufio.NewReaderSize(in, 1<<16)
	first := firstLine(text)
	if numbers(first) || strings.HasPrefix(strings.TrimSpace(first), "{") {
		return nil, nil
	}
	if columns, err = new(editor).header(newRecords(text, io.Discard, features.Separator(text))); err != nil {
		return nil, fmt.Errorf("%q: %w", file, err)
	}
	return columns, nil
}
