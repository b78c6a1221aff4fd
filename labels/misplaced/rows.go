package misplaced

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"

	"nmn/format/records"
)

// Formats are the endings of files of judged captions.
var Formats = records.Formats()

// Columns are the columns of such a file: the caption, its bag, the probability that the caption belongs to
// its bag, and the text.
var Columns = []string{"annotation_id", "image_id", "own", "caption"}

// line is a judged caption. Identifiers have the type that they have in the file of captions.
type line[C, B any] struct {
	Caption C       `json:"annotation_id" parquet:"annotation_id"`
	Bag     B       `json:"image_id" parquet:"image_id"`
	Own     float64 `json:"own" parquet:"own"`
	Text    string  `json:"caption" parquet:"caption"`
}

// WriteFile writes a row for each caption, the least probable first, in the format that the ending of the name decides:
// one of Formats. The file appears when it is whole.
func (r *Report) WriteFile(path string) error {
	return records.Writer{CSV: r.WriteCSV, Lines: r.writeLines, Parquet: r.writeParquet}.WriteFile(path, "captions")
}

// WriteCSV writes the rows as CSV. Probabilities read back as the same float64.
func (r *Report) WriteCSV(out io.Writer) error {
	text := func(id string) (string, error) { return id, nil }
	return records.CSV(out, Columns, func(yield func([]string, error) bool) {
		for c, err := range rowsOf(r, text, text) {
			if !yield([]string{c.Caption, c.Bag, strconv.FormatFloat(c.Own, 'g', -1, 64), c.Text}, err) {
				return
			}
		}
	})
}

// writeLines writes a JSON object on each line; identifiers that are numbers in the file of captions are numbers.
func (r *Report) writeLines(out io.Writer) error {
	identifier := func(numbered bool) func(string) (any, error) {
		return func(id string) (any, error) {
			if numbered {
				return json.Number(id), nil
			}
			return id, nil
		}
	}
	return records.Lines(out, rowsOf(r, identifier(r.NumberedCaptions()), identifier(r.NumberedBags())))
}

// writeParquet writes a Parquet table without nulls: text as UTF-8, probabilities as doubles, and identifiers
// as 64-bit integers if the file of captions has numbers.
func (r *Report) writeParquet(out io.Writer) error {
	text := func(id string) (string, error) { return id, nil }
	number := func(id string) (int64, error) { return strconv.ParseInt(id, 10, 64) }
	switch {
	case r.NumberedBags():
		return records.Parquet(out, rowsOf(r, number, number))
	case r.NumberedCaptions():
		return records.Parquet(out, rowsOf(r, number, text))
	}
	return records.Parquet(out, rowsOf(r, text, text))
}

// rowsOf are the rows, the least probable first, with identifiers as these functions make them.
func rowsOf[C, B any](r *Report, caption func(string) (C, error), bag func(string) (B, error)) iter.Seq2[line[C, B],
	error] {
	return func(yield func(line[C, B], error) bool) {
		for _, p := range r.Lowest(-1) {
			of := r.Captions[p[0]][p[1]]
			c, errC := caption(of.ID)
			b, errB := bag(r.IDs[p[0]])
			if !yield(line[C, B]{Caption: c, Bag: b, Own: r.Own[p[0]][p[1]], Text: of.Text}, errors.Join(errC, errB)) {
				return
			}
		}
	}
}
