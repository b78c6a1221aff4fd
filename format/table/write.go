package table

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"nmn/internal/durable"
)

// Writer writes a table as CSV: a header of words and a row for each bag, as ReadScores and ReadLabels read them.
// Numbers are the shortest that read back as the same float32.
type Writer[T float32 | uint8] struct {
	Gaps   bool // numbers that are Unknown are labels, and their fields are empty
	csv    *csv.Writer
	named  bool
	record []string
}

// NewWriter writes the header. If the bags are named, the column "id" comes first. Flush returns an error of
// writing at the latest.
func NewWriter[T float32 | uint8](out io.Writer, words []string, named bool) *Writer[T] {
	w := &Writer[T]{csv: csv.NewWriter(out), named: named, record: make([]string, 0, len(words)+1)}
	if named {
		w.record = append(w.record, idColumn)
	}
	w.csv.Write(append(w.record, words...)) // errors show up in Flush
	return w
}

// Write writes the row of a bag. Its name is left out if bags have none.
func (w *Writer[T]) Write(id string, values []T) error {
	w.record = w.record[:0]
	if w.named {
		w.record = append(w.record, id)
	}
	for _, v := range values {
		if w.Gaps && v == Unknown {
			w.record = append(w.record, "")
			continue
		}
		w.record = append(w.record, strconv.FormatFloat(float64(v), 'g', -1, 32))
	}
	return w.csv.Write(w.record)
}

// Flush ends the table and returns the first error of writing it.
func (w *Writer[T]) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// WriteFile writes this number of rows to a file, which appears whole or not at all. ids are their names, nil
// for none. values returns a row, which the next call may overwrite. Bytes are labels, including Unknown.
func WriteFile[T float32 | uint8](path string, words, ids []string, rows int, values func(row int) ([]T, error)) (
	err error) {
	file, err := durable.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out, id := NewWriter[T](file, words, ids != nil), ""
	_, out.Gaps = any(*new(T)).(uint8)
	for i := range rows {
		if ids != nil {
			id = ids[i]
		}
		row, err := values(i)
		if err != nil {
			return err
		}
		if err := out.Write(id, row); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Commit()
}
