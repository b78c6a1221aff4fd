package features

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// csvRecords reads a CSV table. The separator is the one of comma, semicolon and tab that the first
// line has most of. The first line is a header unless all of it is numbers; columns are then named by
// their position, from 1.
type csvRecords struct {
	csv    *csv.Reader
	limit  *lineLimit
	names  []string
	record []string
	first  []string // the first row, if it is no header
	header bool
	line   int

	// Numbers with a decimal comma are read if something else separates columns, unless others have a point.
	commas, points bool
}

// maxColumns bounds the columns of a table of text: names and places of more take long, and such a table is a mistake.
const maxColumns = 1 << 19

// UnnamedColumn begins the names of columns without one in a Sheet, as in pandas, which writes its index so.
const UnnamedColumn = "Unnamed: "

// newCSV reads the header. most bounds the bytes of a row. If unnamed is set, columns without a name get one.
func newCSV(text *bufio.Reader, most int64, unnamed bool) (*csvRecords, error) {
	limit := &lineLimit{r: text, most: most, left: most}
	c := &csvRecords{csv: csv.NewReader(limit), limit: limit}
	c.csv.Comma = Separator(text)
	c.csv.FieldsPerRecord = -1 // counted here, to say which line is ragged
	c.csv.ReuseRecord = true
	c.csv.TrimLeadingSpace = true
	record, err := c.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, formatf("the file is empty; want a header and rows")
	}
	if err != nil {
		return nil, c.fault(err)
	}
	if len(record) > maxColumns {
		return nil, formatf("line 1 has %d columns, more than %d: is another character between them, or are rows and "+
			"columns exchanged? Write more features than that as .npy", len(record), maxColumns)
	}
	for _, field := range record {
		_, err := c.number(field)
		c.header = c.header || err != nil
	}
	c.commas, c.points = false, false
	for i, field := range record {
		switch field = strings.TrimSpace(field); {
		case !c.header:
			c.names = append(c.names, strconv.Itoa(i+1))
			c.first = append(c.first, strings.Clone(field))
		case field == "" && !unnamed && i > 0: // an index that pandas or R wrote is the first column
			return nil, formatf("line 1: column %d has no name; give it one, or remove it", i+1)
		case field == "":
			c.names = append(c.names, UnnamedColumn+strconv.Itoa(i))
		default:
			c.names = append(c.names, strings.Clone(field))
		}
	}
	return c, nil
}

// Separator is the one of comma, semicolon and tab that the first line has most of, as far as the buffer has it.
func Separator(text *bufio.Reader) rune {
	start, _ := text.Peek(text.Size())
	line, _, _ := strings.Cut(string(start), "\n")
	best := ','
	for _, s := range ";\t" {
		if strings.Count(line, string(s)) > strings.Count(line, string(best)) {
			best = s
		}
	}
	return best
}

func (c *csvRecords) columns() []string { return c.names }

func (c *csvRecords) next() error {
	if c.first != nil {
		c.record, c.first, c.line = c.first, nil, 1
		return nil
	}
	c.limit.left = c.limit.most
	var err error
	if c.record, err = c.csv.Read(); err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		return c.fault(err)
	}
	c.line, _ = c.csv.FieldPos(0)
	if len(c.record) != len(c.names) {
		return formatf(
			"line %d: %d fields, the first line has %d: repair the line, with quotes around text that has %q in it",
			c.line, len(c.record), len(c.names), c.csv.Comma)
	}
	return nil
}

// fault adds the position at which the text cannot be read. Package csv does so for malformed CSV, but not
// for a file that ends early.
func (c *csvRecords) fault(err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return formatf("%v: put quotes around a cell that holds quotes, and write each of them twice", err)
	}
	return fmt.Errorf("after line %d: %w", c.line, err)
}

func (c *csvRecords) place() string { return fmt.Sprintf("line %d", c.line) }

func (c *csvRecords) numbers(dst []float32, column int) ([]float32, error) {
	v, err := c.number(c.record[column])
	return append(dst, v), err
}

// number reads a cell.
func (c *csvRecords) number(cell string) (float32, error) {
	v, err := parseNumber(cell)
	if c.csv.Comma == ',' {
		return v, err
	}
	point, comma := strings.Contains(cell, "."), err != nil && strings.Count(cell, ",") == 1
	if comma && !point {
		v, err = parseNumber(strings.Replace(cell, ",", ".", 1))
	}
	c.points, c.commas = c.points || err == nil && point, c.commas || err == nil && comma
	if c.points && c.commas {
		return v, valuef("%q: some numbers have a decimal point, and some a comma: write all in one way", clip(cell))
	}
	return v, err
}

func (c *csvRecords) text(column int) (string, error) {
	return strings.Clone(strings.TrimSpace(c.record[column])), nil
}

func (c *csvRecords) list(column int) ([]string, error) {
	return splitList(strings.Clone(c.record[column])), nil
}

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
