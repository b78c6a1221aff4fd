package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"nmn/internal/input"
)

// idColumn is the heading of the optional first column, which names the bags.
const idColumn = "id"

// isIDs reports whether a heading belongs to identifiers. pandas and R write none above the index of a table.
func isIDs(heading string) bool {
	heading = strings.TrimSpace(heading)
	return heading == idColumn || heading == ""
}

// readCSV reads a header of words and rows of numbers, separated by commas. Memory grows with the bytes read,
// never with the file's claims.
func readCSV(r io.Reader, file string, rule cellRule) (*Matrix, error) {
	limited := newRecordReader(r)
	c := csv.NewReader(limited)
	c.FieldsPerRecord = -1 // counted here, to report which line is ragged
	c.ReuseRecord = true
	m := &Matrix{Name: file}
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: empty file, want a header of class names: %w", file, ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", file, ErrFormat, err)
	}
	if err := m.setHeader(header, rule.single); err != nil {
		return nil, err
	}
	hasIDs := len(header) > m.Cols
	for {
		limited.left = maxRecord
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", file, ErrFormat, err)
		}
		if err := m.addRow(c, record, hasIDs, rule); err != nil {
			return nil, err
		}
	}
	if m.Rows == 0 {
		return nil, fmt.Errorf("%s: a header but no rows: %w", file, ErrFormat)
	}
	return m, nil
}

// maxRecord limits the bytes of one row. 100,000 words at full precision take a fortieth of it.
const maxRecord = 64 << 20

// recordReader fails once more has been read than a row may hold, so that a file that never ends a row
// cannot fill the memory.
type recordReader struct {
	r    io.Reader
	left int64
}

func newRecordReader(r io.Reader) *recordReader {
	text := bufio.NewReaderSize(r, 1<<16)
	input.SkipMark(text)
	return &recordReader{r: text, left: maxRecord}
}

func (r *recordReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("a row of more than %d bytes", maxRecord)
	}
	n, err := r.r.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

func (m *Matrix) setHeader(header []string, single bool) error {
	if len(header) == 1 && strings.Count(header[0], ";") > 0 {
		return fmt.Errorf("%s:1: semicolons separate columns, want commas, and decimals with a point: %w", m.Name, ErrFormat)
	}
	words := make([]string, 0, len(header))
	numbers := 0
	for i, field := range header {
		word := strings.TrimSpace(field)
		if i == 0 && len(header) > 1 && isIDs(word) || i == 0 && word == idColumn {
			continue
		}
		if word == "" {
			return fmt.Errorf("%s:1: column %d of the header is empty, want a class: %w", m.Name, i+1, ErrFormat)
		}
		if _, err := strconv.ParseFloat(word, 64); err == nil {
			numbers++
		}
		words = append(words, word)
	}
	if single && len(words) != 1 {
		return fmt.Errorf("%s:1: %d columns, want one label for each sample, and at most id before it: %w", m.Name,
			len(header), ErrFormat)
	}
	if len(words) == 0 {
		return fmt.Errorf("%s:1: the header names no class: %w", m.Name, ErrFormat)
	}
	if numbers == len(header) { // of classes that are called by numbers, a column of identifiers shows that it is a header
		return fmt.Errorf("%s:1: the first line holds only numbers, want a header of class names: %w", m.Name, ErrFormat)
	}
	if _, err := names(m.Name+":1", "class", words); err != nil {
		return err
	}
	m.Words, m.Cols = words, len(words)
	return nil
}

func (m *Matrix) addRow(c *csv.Reader, record []string, hasIDs bool, rule cellRule) error {
	line, _ := c.FieldPos(0)
	first := 0
	if hasIDs {
		first = 1
	}
	if len(record) != m.Cols+first {
		return fmt.Errorf("%s:%d: %d fields, the header has %d: %w", m.Name, line, len(record), m.Cols+first, ErrShape)
	}
	if hasIDs {
		m.IDs = append(m.IDs, strings.Clone(strings.TrimSpace(record[0])))
	}
	for i, field := range record[first:] {
		v, err := rule.number(strings.TrimSpace(field))
		if err == nil {
			err = rule.fault(v)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: column %d (%s): %w", m.Name, line, i+first+1, m.Words[i], err)
		}
		m.Values = append(m.Values, rule.held(float32(v)))
	}
	m.Rows++
	return nil
}
