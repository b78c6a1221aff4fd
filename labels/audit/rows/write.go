package rows

import (
	"io"
	"strconv"

	"nmn/format/records"
	"nmn/labels"
)

// Formats are the endings of files of rows.
var Formats = append(records.Formats(), ".npy")

// WriteFile writes the rows in the order of their rank. The extension of the name selects one of Formats.
// Rows are written as they are made, and the file appears when it is complete. The columns are the fields of
// [Row]; unknown values are empty, or absent in JSON lines. An array has the rows in the order of the scores
// instead, with numbers instead of names: see Fields.
func (t *Table) WriteFile(path string) error {
	rows := func(yield func(Row, error) bool) {
		for rank := range t.Len() {
			r := t.Row(rank)
			if !yield(r, records.CheckText("row", r.Rank, r.ID, r.Word, r.Suggest)) {
				return
			}
		}
	}
	return records.Writer{
		CSV:     func(out io.Writer) error { return records.CSV(out, header, t.records) },
		Lines:   func(out io.Writer) error { return records.Lines(out, rows) },
		Parquet: func(out io.Writer) error { return records.Parquet(out, rows) },
		Array:   t.writeArray,
	}.WriteFile(path, "rows")
}

var header = []string{"id", "rank", "quality", "suspects", "class", "kind", "p_wrong", "suggested", "outlier",
	"outlier_score", "mean_distance", "nearest", "nearest_distance", "duplicates", "exact", "conflict"}

// records are the rows as text.
func (t *Table) records(yield func([]string, error) bool) {
	for rank := range t.Len() {
		r := t.Row(rank)
		record := []string{r.ID, strconv.FormatInt(r.Rank, 10), digits(r.Quality), strconv.FormatInt(r.Suspects, 10),
			r.Word, r.Kind, digits(r.Wrong), r.Suggest, truth(r.Outlier), digits(r.Score), digits(r.Mean), "",
			digits(r.Distance), "", truth(r.Exact), truth(r.Conflict)}
		if r.Nearest != nil {
			record[11] = *r.Nearest
		}
		if r.Group != nil {
			record[13] = strconv.FormatInt(*r.Group, 10)
		}
		if !yield(record, nil) {
			return
		}
	}
}

func digits(v *float64) string {
	if v == nil {
		return ""
	}
	return labels.Digits(*v)
}

func truth(v *bool) string {
	if v == nil {
		return ""
	}
	return strconv.FormatBool(*v)
}
