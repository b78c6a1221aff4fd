package records

import (
	"errors"
	"fmt"
	"io"
	"iter"
)

// Table is a Parquet table, read once from top to bottom.
type Table interface {
	// Columns are the names of the columns, in the order of the file.
	Columns() []string
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
