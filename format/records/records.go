// Package records writes lists of rows as CSV, as JSON lines, as Parquet tables or as arrays, whichever the ending of a
// file's name asks for. Rows are written as they are made, and the file appears when it is whole.
package records

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"nmn/internal/durable"
)

// Formats are the endings of the files.
func Formats() []string { return []string{".csv", ".jsonl", ".parquet"} }

// Writer writes a list of rows in each of the formats. Array, for lists of numbers, writes a structured array
// of NumPy (.npy). It may be nil.
type Writer struct{ CSV, Lines, Parquet, Array func(io.Writer) error }

// WriteFile writes the rows in the format of the name's ending. what is the plural noun for the rows in the
// error about an unknown ending.
func (w Writer) WriteFile(path, what string) error {
	writers := map[string]func(io.Writer) error{".csv": w.CSV, ".jsonl": w.Lines, ".parquet": w.Parquet, ".npy": w.Array}
	write := writers[strings.ToLower(filepath.Ext(path))]
	if write == nil {
		formats := Formats()
		if w.Array != nil {
			formats = append(formats, ".npy")
		}
		return fmt.Errorf("cannot write %s to %q: its name ends in none of %s", what, path, strings.Join(formats, ", "))
	}
	return durable.Stream(path, 0o644, write)
}

// CSV writes the names of the columns and then each record. The first error among the records ends it.
func CSV(out io.Writer, columns []string, records iter.Seq2[[]string, error]) error {
	w := csv.NewWriter(out)
	if err := w.Write(columns); err != nil {
		return err
	}
	for record, err := range records {
		if err == nil {
			err = w.Write(record)
		}
		if err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// Lines writes a JSON object for each row, on a line of its own. It stops at the first error among the rows.
func Lines[Row any](out io.Writer, rows iter.Seq2[Row, error]) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for row, err := range rows {
		if err == nil {
			err = e.Encode(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Parquet writes a Parquet table whose columns are the fields of a row, by their parquet tags. The first error among
// the rows ends it. The program must import package format/parquet.
func Parquet[Row any](out io.Writer, rows iter.Seq2[Row, error]) error {
	if library.Write == nil {
		return errNoParquet
	}
	var like Row
	return library.Write(out, like, func(yield func(any, error) bool) {
		for row, err := range rows {
			if !yield(row, err) {
				return
			}
		}
	})
}

// CheckText refuses names that are not UTF-8, which text in JSON and Parquet must be. what and number
// identify the row in the error.
func CheckText(what string, number int64, names ...string) error {
	for _, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("%s %d: the name %.60q is not UTF-8; rename it, or write a .csv, which takes any bytes",
				what, number, name)
		}
	}
	return nil
}

// Table is a Parquet table, read once from top to bottom.
type Table interface {
	// Columns are the names of the columns, in the order of the file.
	Columns() []string
	// Index is the column that pandas wrote as the index of the table; empty for none, and for several.
	Index() string
	// Next goes to the next row. It returns io.EOF after the last.
	Next() error
	// Row is the number of the current row, from 1.
	Row() int
	// Numbers appends the values of column c: one number, or more for a column of lists. A missing value is
	// NaN.
	Numbers(dst []float32, c int) ([]float32, error)
	// Text returns column c unchanged.
	Text(c int) (string, error)
	// List returns column c as a list of texts. ok is false if it holds none.
	List(c int) (list []string, ok bool)
	Close() error
}

// Library reads and writes Parquet tables.
type Library struct {
	Open  func(file io.ReaderAt, size int64) (Table, error)
	Write func(out io.Writer, like any, rows iter.Seq2[any, error]) error // the rows have the type of like
}

var (
	library      Library
	errNoParquet = fmt.Errorf("this program lacks Parquet: its source must import package format/parquet of nmn: %w",
		errors.ErrUnsupported)
)

// Register sets the library for Parquet tables. Package format/parquet calls it when a program imports it.
// Other programs do not link it.
func Register(l Library) { library = l }

// Open opens a Parquet table.
func Open(file io.ReaderAt, size int64) (Table, error) {
	if library.Open == nil {
		return nil, errNoParquet
	}
	return library.Open(file, size)
}
