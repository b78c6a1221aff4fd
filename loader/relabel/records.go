package relabel

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// records copies a CSV table record by record, each with its own bytes, and lets cells be replaced.
type records struct {
	csv    *csv.Reader
	read   bytes.Buffer // what the reader has taken and is not copied yet
	offset int64        // of its first byte
	out    io.Writer
	comma  byte

	fields []string
	line   int // where the record begins
}

func newRecords(in io.Reader, out io.Writer, comma rune) *records {
	r := &records{out: out, comma: byte(comma)}
	r.csv = csv.NewReader(io.TeeReader(in, &r.read))
	r.csv.Comma, r.csv.FieldsPerRecord, r.csv.ReuseRecord, r.csv.TrimLeadingSpace = comma, -1, true, true
	return r
}

// next reads a record; io.EOF after the last. The one before must have been copied.
func (r *records) next() (err error) {
	if r.fields, err = r.csv.Read(); err == nil {
		r.line, _ = r.csv.FieldPos(0)
	}
	return err
}

// copy writes the record with some cells replaced, by column.
func (r *records) copy(cells map[int]string) error {
	raw := r.read.Next(int(r.csv.InputOffset() - r.offset))
	r.offset = r.csv.InputOffset()
	if len(cells) > 0 {
		var err error
		if raw, err = replaced(raw, r.comma, len(r.fields), cells); err != nil {
			return fmt.Errorf("line %d: %w", r.line, err)
		}
	}
	_, err := r.out.Write(raw)
	return err
}

// end copies what is behind the last record.
func (r *records) end() error {
	_, err := r.out.Write(r.read.Bytes())
	return err
}

// replaced is a record of so many fields with some cells replaced. Blanks around a cell stay, and so do quotes.
func replaced(raw []byte, comma byte, fields int, cells map[int]string) ([]byte, error) {
	out := make([]byte, 0, len(raw)+64)
	at := 0
	for at < len(raw) && (raw[at] == '\n' || raw[at] == '\r') { // empty lines before it
		at++
	}
	out = append(out, raw[:at]...)
	for column := range fields {
		start, end, err := cellOf(raw, at, comma)
		if err != nil {
			return nil, err
		}
		out = append(out, raw[at:start]...)
		if cell, ok := cells[column]; ok {
			out = append(out, quoted(cell, comma, start < end && raw[start] == '"')...)
		} else {
			out = append(out, raw[start:end]...)
		}
		at = end
		for at < len(raw) && raw[at] != comma && column < fields-1 { // blanks behind it
			out = append(out, raw[at])
			at++
		}
		if column < fields-1 {
			if at == len(raw) {
				return nil, fmt.Errorf("it has %d cells, want %d: %w", column+1, fields, ErrForm)
			}
			out = append(out, comma)
			at++
		}
	}
	return append(out, raw[at:]...), nil
}

// cellOf finds the cell at a place of a record, without the blanks around it and with its quotes.
func cellOf(raw []byte, at int, comma byte) (start, end int, err error) {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\t' && comma != '\t') {
		at++
	}
	start = at
	if at < len(raw) && raw[at] == '"' {
		for at++; at < len(raw); at++ {
			if raw[at] != '"' {
				continue
			}
			if at+1 == len(raw) || raw[at+1] != '"' {
				return start, at + 1, nil
			}
			at++
		}
		return 0, 0, errors.Join(errors.New("a quote has no end"), ErrForm)
	}
	for at < len(raw) && raw[at] != comma && raw[at] != '\n' && raw[at] != '\r' {
		at++
	}
	for end = at; end > start && (raw[end-1] == ' ' || raw[end-1] == '\t'); end-- {
	}
	return start, end, nil
}

// quoted states a cell, in quotes where it had some or needs them.
func quoted(cell string, comma byte, always bool) string {
	if !always && !strings.ContainsAny(cell, "\"\r\n"+string(rune(comma))) && strings.TrimSpace(cell) == cell {
		return cell
	}
	return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
}
