package labels

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"nmn/internal/durable"
	"nmn/text"
)

// EstimateColumns are the columns of rates.csv, which nmn rates and a recipe write.
var EstimateColumns = []string{
	"class", "q01", "q10", "q01_low", "q01_high", "q10_low", "q10_high", "a", "b", "labels", "remarks",
}

// LearntColumns are the columns of the q.csv that a run writes: with parts of speech if words have any, the
// true rates if one of them is known, and remarks if there are any.
func (t Table) LearntColumns() []string {
	columns := []string{"class", "pos", "q01", "q10"}
	if !t.HasPOS() {
		columns = slices.Delete(columns, 1, 2)
	}
	if slices.ContainsFunc(t, func(r Row) bool { return known(r.T01) || known(r.T10) }) {
		columns = append(columns, "t01", "t10")
	}
	if slices.ContainsFunc(t, func(r Row) bool { return r.Remarks != "" }) {
		columns = append(columns, "remarks")
	}
	return columns
}

// HasPOS reports whether the words have parts of speech. Words of captions do, and labels by name do not.
func (t Table) HasPOS() bool {
	return slices.ContainsFunc(t, func(r Row) bool { return r.POS != text.Others })
}

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// WriteCSV writes columns of the table with full precision; an unknown number is an empty field.
func (t Table) WriteCSV(w io.Writer, columns []string) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	fields := make([]string, len(columns))
	for i := range t {
		for f, column := range columns {
			fields[f] = t[i].field(column)
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (r *Row) field(column string) string {
	switch column {
	case "class":
		return r.Word
	case "pos":
		return r.POS.String()
	case "labels":
		return strconv.Itoa(r.Labels)
	case "remarks":
		return r.Remarks
	}
	if v := r.number(column); v != nil && known(*v) {
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	return ""
}

// WriteFile writes columns of the table to a file, which appears whole or not at all.
func (t Table) WriteFile(path string, columns []string) error {
	return durable.Stream(path, 0o644, func(out io.Writer) error { return t.WriteCSV(out, columns) })
}
