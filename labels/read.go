package labels

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/input"
	"nmn/text"
)

// ErrRates is wrapped by every error about the content of a file of noise rates.
var ErrRates = errors.New("not a valid file of noise rates")

// Empty is the meaning of an empty field of q01, q10 or of a bound of their intervals. One of t01 or t10 is
// always unknown, one of a or b always an error.
type Empty int

// The meanings of an empty field.
const (
	EmptyRefused Empty = iota // an error
	EmptyUnknown              // NaN
	EmptyZero                 // 0; classes without a row also have rates of 0
)

// Options select what Read takes from a table and what it refuses.
type Options struct {
	// Columns are read if the table has them. The calibration, a and b, is read if it has both.
	Columns []string
	// Needed are the members of Columns that must be there.
	Needed []string
	// Only refuses every other column; without it they are skipped.
	Only  bool
	Empty Empty
}

// The readings of this program.
var (
	// Learnt reads a table for training: every rate must be there.
	Learnt = Options{
		Columns: []string{"class", "pos", "q01", "q10", "t01", "t10", "remarks"}, Needed: []string{"q01", "q10"},
		Only: true,
	}
	// Left reads a table that a run has written: a class whose rates were not estimated has none.
	Left = Options{Columns: Learnt.Columns, Needed: Learnt.Needed, Only: true, Empty: EmptyUnknown}
	// Given reads a table for an audit: rates, and the calibration if the table has it.
	Given = Options{
		Columns: []string{"class", "q01", "q10", "a", "b"}, Needed: []string{"q01", "q10"}, Empty: EmptyUnknown,
	}
	// Estimated reads the rates of an estimate from scores with their intervals and remarks.
	Estimated = Options{Columns: append([]string{"class"}, estimated...), Needed: estimated, Empty: EmptyUnknown}
	// Flips reads the rates with which labels are to be flipped.
	Flips = Options{Columns: []string{"class", "q01", "q10"}, Needed: []string{"q01", "q10"}, Empty: EmptyZero}

	estimated = []string{"q01", "q01_low", "q01_high", "q10", "q10_low", "q10_high", "remarks"}
)

// ReadWordsFile is ReadFile for words in class order, which must differ.
func ReadWordsFile(path string, words []string, o Options) (Table, error) {
	list := make([]text.Word, len(words))
	for i, w := range words {
		list[i].Text = w
	}
	v, err := text.NewVocabulary(list)
	if err != nil {
		return nil, fmt.Errorf("the classes of the scores: %w", err)
	}
	return ReadFile(path, v, o)
}

// ReadFile reads a table from a file. Errors about its content name the file and the line, and wrap ErrRates.
func ReadFile(path string, v *text.Vocabulary, o Options) (Table, error) {
	f, err := input.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNamed(f, path, v, o)
}

// readNamed is Read with the name of the file in errors.
func readNamed(r io.Reader, name string, v *text.Vocabulary, o Options) (Table, error) {
	t, err := Read(r, v, o)
	var at *text.ClassTableError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%d: %w: %w", name, at.Line, at.Err, ErrRates)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", name, err, ErrRates)
	}
	return t, nil
}

// Read reads a table as a program or a person wrote it: CSV with a header, at most one row for each word of the
// vocabulary, in any order of rows and columns. Rates lie in 0 to 1, and every word must have a row, unless EmptyZero
// makes up for it. The result is in class order. An error that belongs to a line is a *text.ClassTableError.
func Read(r io.Reader, v *text.Vocabulary, o Options) (Table, error) {
	lines, err := text.NewClassTable(r, v, o.Needed...)
	if err != nil {
		return nil, err
	}
	columns, err := o.columnsOf(lines.Columns())
	if err != nil {
		return nil, err
	}
	t := o.blank(v)
	for {
		class, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, column := range columns {
			if err := t[class].set(column, lines.Field(column), o.Empty); err != nil {
				return nil, &text.ClassTableError{Line: lines.Line(), Err: fmt.Errorf("class %q: %w", t[class].Word, err)}
			}
		}
	}
	if missing, first := lines.Missing(); missing > 0 && o.Empty != EmptyZero {
		lacking := "line"
		if o.Empty == EmptyRefused {
			lacking = "rate"
		}
		return nil, fmt.Errorf("%d of %d classes have no %s, the first is %q", missing, v.Len(), lacking, first)
	}
	return t, nil
}

// columnsOf are the columns of a header that are read, in its order.
func (o Options) columnsOf(header []string) ([]string, error) {
	var columns []string
	for i, column := range header {
		switch {
		case slices.Contains(o.Columns, column):
			columns = append(columns, column)
		case o.Only:
			last := len(o.Columns) - 1
			return nil, &text.ClassTableError{Line: 1, Err: fmt.Errorf("column %d is %.40q, want %s or %s", i+1, column,
				strings.Join(o.Columns[:last], ", "), o.Columns[last])}
		}
	}
	if !slices.Contains(columns, "a") || !slices.Contains(columns, "b") {
		columns = slices.DeleteFunc(columns, func(column string) bool { return column == "a" || column == "b" })
	}
	return columns, nil
}

// blank is the table of no rows.
func (o Options) blank(v *text.Vocabulary) Table {
	t := make(Table, v.Len())
	for c := range t {
		t[c] = NewRow(v.Word(c))
		if o.Empty == EmptyZero {
			t[c].Q01, t[c].Q10 = 0, 0
		}
	}
	return t
}

// set takes one field; the class and its group are already known from the vocabulary.
func (r *Row) set(column, field string, empty Empty) error {
	switch column {
	case "class":
		return nil
	case "pos":
		if pos, err := text.ParsePOS(field); field != "" && (err != nil || pos != r.POS) {
			return fmt.Errorf("part of speech %.40q, the vocabulary has %v", field, r.POS)
		}
		return nil
	case "remarks":
		r.Remarks = strings.Clone(field)
		return nil
	}
	rate := slices.Contains(rateColumns, column)
	if truth := column == "t01" || column == "t10"; field == "" && rate && (truth || empty != EmptyRefused) {
		return nil
	}
	v, err := strconv.ParseFloat(field, 64)
	switch {
	case rate && (err != nil || !(v >= 0 && v <= 1)):
		return fmt.Errorf("%s is %.40q, want a rate from 0 to 1", column, field)
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%s is %.40q, want a number", column, field)
	}
	*r.number(column) = v
	return nil
}
