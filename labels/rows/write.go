package rows

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"nmn/internal/durable"
)

// Formats are the endings of files of rows.
var Formats = []string{".csv", ".jsonl", ".parquet"}

// WriteFile writes the rows in their rank, in the format that the ending of the name decides: one of Formats. Rows
// are written as they are made, and the file appears when it is whole. The columns are those of [Row]; what is not
// known is empty, or absent in JSON lines.
func (t *Table) WriteFile(path string) error {
	var write func(io.Writer) error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		write = t.writeCSV
	case ".jsonl":
		write = t.writeLines
	case ".parquet":
		write = t.writeParquet
	default:
		return fmt.Errorf("cannot write rows to %q: its name ends in none of %s", path, strings.Join(Formats, ", "))
	}
	return durable.Stream(path, 0o644, write)
}

var header = []string{"id", "rank", "quality", "suspects", "word", "kind", "p_wrong", "suggested", "outlier",
	"outlier_score", "mean_distance", "nearest", "nearest_distance", "duplicates", "exact", "conflict"}

func (t *Table) writeCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	if err := w.Write(header); err != nil {
		return err
	}
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
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func digits(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

func truth(v *bool) string {
	if v == nil {
		return ""
	}
	return strconv.FormatBool(*v)
}

func (t *Table) writeLines(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for rank := range t.Len() {
		r := t.Row(rank)
		if err := r.checkText(); err != nil {
			return err
		}
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// rowGroup is how many rows of a Parquet file lie together, and in memory until they are written.
const rowGroup = 1 << 17

func (t *Table) writeParquet(out io.Writer) error {
	w := parquet.NewGenericWriter[Row](out, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowGroup))
	some := make([]Row, 0, 1024)
	for rank := range t.Len() {
		r := t.Row(rank)
		if err := r.checkText(); err != nil {
			return err
		}
		if some = append(some, r); len(some) == cap(some) || rank == t.Len()-1 {
			if _, err := w.Write(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return w.Close()
}

// checkText refuses names that are not UTF-8, which text in JSON and Parquet must be.
func (r *Row) checkText() error {
	for _, name := range []string{r.ID, r.Word, r.Suggest} {
		if !utf8.ValidString(name) {
			return fmt.Errorf("row %d: the name %.60q is not UTF-8; rename it, or write a .csv, which takes any bytes",
				r.Rank, name)
		}
	}
	return nil
}
