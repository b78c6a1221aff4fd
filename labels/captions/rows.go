package captions

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"nmn/internal/durable"
)

// Formats are the endings of files of judged captions.
var Formats = []string{".csv", ".jsonl", ".parquet"}

// Columns are those of such a file: the caption, its bag, the probability that the caption is of its bag, and the text.
var Columns = []string{"annotation_id", "image_id", "own", "caption"}

// row is a judged caption. Identifiers have the type that they have in the file of captions.
type row[C, B any] struct {
	Caption C       `json:"annotation_id" parquet:"annotation_id"`
	Bag     B       `json:"image_id" parquet:"image_id"`
	Own     float64 `json:"own" parquet:"own"`
	Text    string  `json:"caption" parquet:"caption"`
}

// WriteFile writes a row for each caption, the least probable first, in the format that the ending of the name decides:
// one of Formats. The file appears when it is whole.
func (r *Report) WriteFile(path string) error {
	write := r.WriteCSV
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
	case ".jsonl":
		write = r.writeLines
	case ".parquet":
		write = r.writeParquet
	default:
		return fmt.Errorf("cannot write captions to %q: its name ends in none of %s", path, strings.Join(Formats, ", "))
	}
	return durable.Stream(path, 0o644, write)
}

// WriteCSV writes the rows as CSV. Probabilities read back as the same float64.
func (r *Report) WriteCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	if err := w.Write(Columns); err != nil {
		return err
	}
	for _, p := range r.Lowest(-1) {
		caption := r.Captions[p[0]][p[1]]
		own := strconv.FormatFloat(r.Own[p[0]][p[1]], 'g', -1, 64)
		if err := w.Write([]string{caption.ID, r.IDs[p[0]], own, caption.Text}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// writeLines writes a JSON object on each line; identifiers that are numbers in the file of captions are numbers.
func (r *Report) writeLines(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, p := range r.Lowest(-1) {
		caption := r.Captions[p[0]][p[1]]
		line := row[any, any]{caption.ID, r.IDs[p[0]], r.Own[p[0]][p[1]], caption.Text}
		if r.NumberedCaptions() {
			line.Caption = json.Number(caption.ID)
		}
		if r.NumberedBags() {
			line.Bag = json.Number(r.IDs[p[0]])
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// writeParquet writes a Parquet table without nulls: text as UTF-8, probabilities as doubles, identifiers as 64-bit
// integers where they are numbers in the file of captions.
func (r *Report) writeParquet(out io.Writer) error {
	text := func(id string) (string, error) { return id, nil }
	number := func(id string) (int64, error) { return strconv.ParseInt(id, 10, 64) }
	switch {
	case r.NumberedBags():
		return writeParquetRows(out, r, number, number)
	case r.NumberedCaptions():
		return writeParquetRows(out, r, number, text)
	}
	return writeParquetRows(out, r, text, text)
}

// rowGroup is how many rows of a Parquet file lie together, and in memory until they are written.
const rowGroup = 1 << 17

func writeParquetRows[C, B any](out io.Writer, r *Report, caption func(string) (C, error),
	bag func(string) (B, error)) error {
	w := parquet.NewGenericWriter[row[C, B]](out, parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(rowGroup))
	rows := make([]row[C, B], 0, 1024)
	places := r.Lowest(-1)
	for i, p := range places {
		of := r.Captions[p[0]][p[1]]
		c, errC := caption(of.ID)
		b, errB := bag(r.IDs[p[0]])
		if err := errors.Join(errC, errB); err != nil {
			return err
		}
		rows = append(rows, row[C, B]{c, b, r.Own[p[0]][p[1]], of.Text})
		if len(rows) == cap(rows) || i == len(places)-1 {
			if _, err := w.Write(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return w.Close()
}
