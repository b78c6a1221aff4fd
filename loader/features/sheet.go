package features

import (
	"bufio"
	"strings"
)

// Sheet reads a CSV table row by row as text, for lists whose columns are not numbers. Its first line is
// the header; the separator is found as in a file of features.
type Sheet struct{ records *csvRecords }

// NewSheet reads the header. A row of more bytes than most is an error.
func NewSheet(text *bufio.Reader, most int64) (*Sheet, error) {
	records, err := newCSV(text, most, true)
	if err != nil {
		return nil, err
	}
	if err := distinct(records.names); err != nil {
		return nil, err
	}
	return &Sheet{records}, nil
}

// Columns are the names in the header.
func (s *Sheet) Columns() []string { return s.records.names }

// Next reads a row, io.EOF after the last. The error names the line.
func (s *Sheet) Next() error { return s.records.next() }

// Line is where the row begins, from 1.
func (s *Sheet) Line() int { return s.records.line }

// Text is a cell of the row, without blanks around it. It is good until the next row is read.
func (s *Sheet) Text(column int) string { return strings.TrimSpace(s.records.record[column]) }
