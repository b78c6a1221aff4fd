package text

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ClassTable reads a CSV table with a header and at most one line for each class, in any order of lines and columns, as
// a program or a person wrote it. The vocabulary names the classes.
type ClassTable struct {
	csv        *csv.Reader
	vocabulary *Vocabulary
	columns    []string
	record     []string
	line       int
	given      []int // line of each class, 0 if there was none yet
}

// NewClassTable reads the header. The column "class" must be there, and all of needed, which are in lower case; in the
// file case, surrounding space and a byte-order mark do not matter. No column with a name may occur twice.
func NewClassTable(r io.Reader, v *Vocabulary, needed ...string) (*ClassTable, error) {
	t := &ClassTable{csv: csv.NewReader(r), vocabulary: v, line: 1, given: make([]int, v.Len())}
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	needed = append([]string{"class"}, needed...)
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
func (t *ClassTable) Columns() []string { return slices.Clone(t.columns) }

// Next reads a line and returns its class. After the last line it returns io.EOF unwrapped. A name
// that is not in the vocabulary or had a line already, and a line that is longer or shorter than the
// header, are errors. Like the errors of NewClassTable they are a *ClassTableError.
func (t *ClassTable) Next() (class int, err error) {
	t.record, err = t.csv.Read()
	if errors.Is(err, io.EOF) {
		return 0, io.EOF
	}
	if err != nil {
		return 0, t.fault(err)
	}
	t.line, _ = t.csv.FieldPos(0)
	if len(t.record) != len(t.columns) {
		return 0, t.fault(fmt.Errorf("wrong number of fields: %d fields, the header has %d", len(t.record), len(t.columns)))
	}
	name := t.record[slices.Index(t.columns, "class")]
	class, ok := t.vocabulary.Index(name)
	if !ok {
		class, ok = t.vocabulary.Index(strings.TrimSpace(name))
	}
	if !ok {
		return 0, t.fault(fmt.Errorf("%.40q is not one of the classes", name))
	}
	if t.given[class] != 0 {
		return 0, t.fault(fmt.Errorf("%.40q has a line already: it was given in line %d", name, t.given[class]))
	}
	t.given[class] = t.line
	return class, nil
}

// Field returns a field of the line that Next read, without surrounding space; "" if there is no such column.
// It is valid until the next call of Next.
func (t *ClassTable) Field(column string) string {
	i := slices.Index(t.columns, column)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(t.record[i])
}

// Line is the number of the line that was read last, counted from 1.
func (t *ClassTable) Line() int { return t.line }

// Missing counts the classes that had no line yet, and returns the first of them.
func (t *ClassTable) Missing() (n int, first string) {
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

// ClassTableError is an error in a line of a table of classes.
type ClassTableError struct {
	Line int // counted from 1
	Err  error
}

func (e *ClassTableError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *ClassTableError) Unwrap() error { return e.Err }

// fault names the line of an error; errors of the CSV itself already have the exact line.
func (t *ClassTable) fault(err error) error {
	line := t.line
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		line, err = syntax.Line, fmt.Errorf("column %d: %w", syntax.Column, syntax.Err)
	}
	return &ClassTableError{Line: line, Err: err}
}
