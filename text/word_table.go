package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WordTable reads a CSV table that has a header and at most one line for each word of a vocabulary,
// in any order of lines and columns, as a program or a person wrote it.
type WordTable struct {
	csv        *csv.Reader
	vocabulary *Vocabulary
	columns    []string
	record     []string
	line       int
	given      []int // line of each word, 0 if there was none yet
}

// NewWordTable reads the header. The column "word" must be there, and all of needed, which are in
// lower case; in the file case, surrounding space and a byte-order mark do not matter. No column with a
// name may occur twice.
func NewWordTable(r io.Reader, v *Vocabulary, needed ...string) (*WordTable, error) {
	t := &WordTable{csv: csv.NewReader(r), vocabulary: v, line: 1, given: make([]int, v.Len())}
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	needed = append([]string{"word"}, needed...)
	titles, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, t.fault(fmt.Errorf("the file is empty; want a header with %s", strings.Join(needed, ", ")))
	}
	if err != nil {
		return nil, t.fault(err)
	}
	for i, title := range titles {
		title = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(title, "\ufeff")))
		if title != "" && slices.Contains(t.columns, title) {
			return nil, t.fault(fmt.Errorf("column %d is %.40q, which is given twice", i+1, title))
		}
		t.columns = append(t.columns, strings.Clone(title))
	}
	for _, column := range needed {
		if !slices.Contains(t.columns, column) {
			return nil, t.fault(fmt.Errorf("the header lacks one of the columns %s: there is no column %q",
				strings.Join(needed, ", "), column))
		}
	}
	return t, nil
}

// Columns are the names of all columns, in lower case without surrounding space.
func (t *WordTable) Columns() []string { return slices.Clone(t.columns) }

// Next reads a line and returns the class of its word; after the last line it returns io.EOF unwrapped. A
// word that is not in the vocabulary or had a line already, and a line that is longer or shorter than the
// header, are errors. Like the errors of NewWordTable they are a *WordTableError.
func (t *WordTable) Next() (class int, err error) {
	t.record, err = t.csv.Read()
	if errors.Is(err, io.EOF) {
		return 0, io.EOF
	}
	if err != nil {
		return 0, t.fault(err)
	}
	t.line, _ = t.csv.FieldPos(0)
	if len(t.record) != len(t.columns) {
		return 0, t.fault(fmt.Errorf("wrong number of fields: %d fields, the header has %d",
			len(t.record), len(t.columns)))
	}
	word := t.record[slices.Index(t.columns, "word")]
	class, ok := t.vocabulary.Index(word)
	if !ok {
		class, ok = t.vocabulary.Index(strings.TrimSpace(word))
	}
	if !ok {
		return 0, t.fault(fmt.Errorf("%.40q is not a word of the vocabulary", word))
	}
	if t.given[class] != 0 {
		return 0, t.fault(fmt.Errorf("%.40q has a line already: it was given in line %d", word, t.given[class]))
	}
	t.given[class] = t.line
	return class, nil
}

// Field returns a field of the line that Next read, without surrounding space; "" if there is no such column.
// It is valid until the next call of Next.
func (t *WordTable) Field(column string) string {
	i := slices.Index(t.columns, column)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(t.record[i])
}

// Line is the number of the line that was read last, counted from 1.
func (t *WordTable) Line() int { return t.line }

// Missing counts the words that had no line yet, and returns the first of them.
func (t *WordTable) Missing() (n int, first string) {
	for class, line := range t.given {
		if line == 0 {
			if n == 0 {
				first = t.vocabulary.Word(class).Text
			}
			n++
		}
	}
	return n, first
}

// WordTableError is an error in a line of a table of words.
type WordTableError struct {
	Line int // counted from 1
	Err  error
}

func (e *WordTableError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *WordTableError) Unwrap() error { return e.Err }

// fault names the line of an error; errors of the CSV itself already have the exact line.
func (t *WordTable) fault(err error) error {
	line := t.line
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		line, err = syntax.Line, fmt.Errorf("column %d: %w", syntax.Column, syntax.Err)
	}
	return &WordTableError{Line: line, Err: err}
}
