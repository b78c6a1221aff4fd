package features

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Weights come from a column, which is no feature, or from a file in the order of the rows or with identifiers.
func TestOpen_WeightsOfRows(t *testing.T) {
	with := file(t, "x.csv", []byte("id,a,w,cat\np,1,.5,1\nq,2,0,0\nr,3,2,0\n"))
	without := file(t, "x.csv", []byte("id,a,cat\np,1,1\nq,2,0\nr,3,0\n"))
	for name, o := range map[string]Options{
		"column":         {Features: with, WeightColumn: "w"},
		"by identifiers": {Features: without, Weights: file(t, "w.csv", []byte("id,y\nr,2\np,0.5\nq,0\nzz,1\n"))},
		"in order":       {Features: without, Weights: file(t, "w.tsv", []byte("weight\n.5\n0\n2\n"))},
		"array":          {Features: without, Weights: file(t, "w.npy", npyFile("<f4", "(3,)", []float32{.5, 0, 2}))},
	} {
		o.LabelColumns = []string{"cat"}
		table := mustOpen(t, o)
		if !slices.Equal(table.Weights, []float32{.5, 0, 2}) || !slices.Equal(table.Columns, []string{"a"}) {
			t.Errorf("%s: weights %v, features %v", name, table.Weights, table.Columns)
		}
	}
	o := Options{Features: without, LabelColumns: []string{"cat"}, WeightColumn: "w"}
	if table := mustOpen(t, o); table.Weights != nil {
		t.Errorf("weights %v of a file without the column", table.Weights) // as of rows to predict
	}
}

func TestOpen_RefusesWeights(t *testing.T) {
	array := func(shape string, values ...float32) string { return file(t, "w.npy", npyFile("<f4", shape, values)) }
	sheet := func(content string) string { return file(t, "w.csv", []byte(content)) }
	x := file(t, "x.csv", []byte("a,w,cat\n1,1,1\n2,-1,0\n"))
	for name, c := range map[string]struct {
		o    Options
		kind error
		says []string
	}{
		"negative":    {Options{WeightColumn: "w"}, ErrValue, []string{"line 3", "column 2 (w)", "-1", "at least 0"}},
		"missing":     {Options{Weights: sheet("w\n1\nnan\n")}, ErrValue, []string{"w.csv", "row 2", "NaN"}},
		"too few":     {Options{Weights: array("(1,)", 1)}, ErrFormat, []string{"has 1 rows", "have 2"}},
		"two columns": {Options{Weights: sheet("v,w\n1,2\n1,2\n")}, ErrFormat, []string{"2 numbers"}},
		"two ways": {Options{Weights: array("(2, 1)", 1, 1), WeightColumn: "a"}, ErrFormat,
			[]string{"`data.features.weights`"}},
		"a label":  {Options{WeightColumn: "cat"}, ErrFormat, []string{`"cat"`, "something else"}},
		"no table": {Options{Weights: "w.txt"}, ErrFormat, []string{"w.txt"}},
	} {
		c.o.Features, c.o.LabelColumns = x, []string{"cat"}
		table, err := Open(t.Context(), c.o)
		if err == nil {
			t.Errorf("%s: accepted, weights %v", name, table.Weights)
			continue
		}
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", name, err, part)
			}
		}
	}
}
