package features

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// endingContext ends after the given number of checks, as if a signal came in the midst of reading.
type endingContext struct {
	context.Context
	looks int
}

func (c *endingContext) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// However large a file is, reading it ends with the context.
func TestOpen_EndsWithTheContext(t *testing.T) {
	table, header, arff := strings.Builder{}, "a,b\n", "@relation x\n@attribute a real\n@attribute b real\n@data\n"
	for row := range 100_000 {
		fmt.Fprintf(&table, "%d,1\n", row)
	}
	csv := file(t, "x.csv", []byte(header+table.String()))
	for name, o := range map[string]Options{
		"CSV":    {Features: csv},
		"ARFF":   {Features: file(t, "x.arff", []byte(arff+table.String()))},
		"labels": {Features: csv, Labels: csv},
		"XML":    {Features: csv, Labels: file(t, "x.xml", bytes.Repeat([]byte("<labels>"), 100_000))},
	} {
		if _, err := Open(&endingContext{context.Background(), 6}, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// countedRecords counts how often the names of all columns are listed, which takes as long as there are columns.
type countedRecords struct {
	records
	listed int
}

func (c *countedRecords) columns() []string {
	c.listed++
	return c.records.columns()
}

// A header of many columns takes time in proportion to them, not to their square.
func TestRecords_ColumnsAreListedAFewTimes(t *testing.T) {
	var header strings.Builder
	for c := range 300 {
		fmt.Fprintf(&header, "@attribute a%d {0,1}\n", c)
	}
	text := header.String() + "@data\n{}\n"
	for name, read := range map[string]func(*countedRecords) error{
		"features": func(r *countedRecords) error {
			_, err := new(Options).featureRecords(t.Context(), r)
			return err
		},
		"labels": func(r *countedRecords) error {
			_, err := new(Options).labelRecords(t.Context(), "x.arff", r, labelRule{most: 1})
			return err
		},
	} {
		arff, err := newARFF(bufio.NewReader(strings.NewReader(text)))
		expect.OK(t, err)
		r := &countedRecords{records: arff}
		if err := read(r); err != nil || r.listed > 5 {
			t.Errorf("%s: the columns are listed %d times, %v", name, r.listed, err)
		}
	}
}

func TestOpen_RefusesATableOfFarTooManyColumns(t *testing.T) {
	path := file(t, "x.csv", []byte("a"+strings.Repeat(",a", maxColumns)+"\n"))
	if _, err := Open(t.Context(), Options{Features: path}); !errors.Is(err, ErrFormat) ||
		!strings.Contains(err.Error(), fmt.Sprintf("%d columns", maxColumns+1)) {
		t.Errorf("error %v", err)
	}
}
