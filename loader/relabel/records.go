package relabel

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// records copies a CSV table record by record, each with its own bytes, and lets cells be replaced.
type records struct {
	csv    *csv.Reader
	read   bytes.Buffer // text that the reader has taken and that is not copied yet
	offset int64        // offset of its first byte
	out    io.Writer
	comma  byte

	fields []string
	line   int // line where the record begins
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
func (r *records) copy(cells map[int]string) error { return r.write(r.take(), cells) }

// copies writes the record once for each of all, with those cells replaced. Without any, the record is left out.
func (r *records) copies(all []map[int]string) error {
	if len(all) == 1 {
		return r.copy(all[0])
	}
	body, end := lineEnd(bytes.Clone(r.take()))
	for i, cells := range all {
		if i > 0 {
			body = append([]byte(cmp.Or(end, "\n")), bytes.TrimLeft(body, "\r\n")...)
		}
		if err := r.write(body, cells); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return r.write([]byte(end), nil)
}

// lineEnd parts a line from what ends it.
func lineEnd(line []byte) (body []byte, end string) {
	body = bytes.TrimRight(line, "\r\n")
	return body, string(line[len(body):])
}

// take is the text of the record, which counts as copied. It is good until the next record is read.
func (r *records) take() []byte {
	raw := r.read.Next(int(r.csv.InputOffset() - r.offset))
	r.offset = r.csv.InputOffset()
	return raw
}

// write writes the text of the record with some cells replaced, by column.
func (r *records) write(raw []byte, cells map[int]string) error {
	if len(cells) > 0 {
		var err error
		if raw, err = replaced(raw, r.comma, len(r.fields), cells); err != nil {
			return fmt.Errorf("line %d: %w", r.line, err)
		}
	}
	_, err := r.out.Write(raw)
	return err
}

// end copies the rest after the last record.
func (r *records) end() error {
	_, err := r.out.Write(r.read.Bytes())
	return err
}

// replaced returns a record with the given number of fields and with some cells replaced. Blanks around a
// cell stay, and so do quotes.
func replaced(raw []byte, comma byte, fields int, cells map[int]string) ([]byte, error) {
	out := make([]byte, 0, len(raw)+64)
	at := 0
	for n := newline(raw[at:]); n > 0 && at+n < len(raw); n = newline(raw[at:]) { // empty lines before it
		at += n
	}
	out = append(out, raw[:at]...)
	for column := range fields {
		start, end, err := cellOf(raw, at, comma)
		if err != nil {
			return nil, err
		}
		out = append(out, raw[at:start]...)
		at = end
		if cell, ok := cells[column]; ok {
			stated := quoted(cell, comma, start < end && raw[start] == '"')
			for stated[:min(1, len(stated))] == `"` && at < len(raw) && (raw[at] == ' ' || raw[at] == '\t') && raw[at] != comma {
				at++ // nothing may follow a quote
			}
			out = append(out, stated...)
		} else {
			out = append(out, raw[start:end]...)
		}
		for at < len(raw) && raw[at] != comma && column < fields-1 { // blanks after it
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
	for at < len(raw) && newline(raw[at:]) == 0 && raw[at] != comma {
		r, n := utf8.DecodeRune(raw[at:])
		if !unicode.IsSpace(r) {
			break
		}
		at += n
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
	for at < len(raw) && raw[at] != comma && newline(raw[at:]) == 0 {
		at++
	}
	for end = at; end > start && (raw[end-1] == ' ' || raw[end-1] == '\t'); end-- {
	}
	return start, end, nil
}

// newline is how many bytes of the end of a line come next; a carriage return ends the last one too.
func newline(raw []byte) int {
	switch {
	case bytes.HasPrefix(raw, []byte("\n")), string(raw) == "\r":
		return 1
	case bytes.HasPrefix(raw, []byte("\r\n")):
		return 2
	}
	return 0
}

// quoted writes a cell, in quotes if it had them or needs them.
func quoted(cell string, comma byte, always bool) string {
	if !always && !strings.ContainsAny(cell, "\"\r\n"+string(rune(comma))) && strings.TrimSpace(cell) == cell {
		return cell
	}
	return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
}
