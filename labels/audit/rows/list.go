package rows

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"

	"nmn/format/npy"
	"nmn/format/records"
	"nmn/labels"
)

// Formats are the endings of files of lists.
var Formats = append(records.Formats(), ".npy")

// A List of n rows is written in the format that the extension of a file's name selects, one of Formats. Rows are
// written as they are made, and the file appears when it is complete. Row is a struct whose json tags name the columns.
// Element is a struct of numbers whose npy tags name the fields: an element of an array of NumPy.
type List[Row, Element any] struct {
	What string // plural noun for the rows, for errors
	N    int
	// Row returns a row. Its error refuses the row for formats that need text in UTF-8.
	Row     func(at int) (Row, error)
	Element func(at int) Element
}

// WriteFile writes the list.
func (l List[Row, Element]) WriteFile(path string) error {
	return records.Writer{
		CSV:     l.WriteCSV,
		Lines:   func(out io.Writer) error { return records.Lines(out, l.rows()) },
		Parquet: func(out io.Writer) error { return records.Parquet(out, l.rows()) },
		Array: func(out io.Writer) error {
			return npy.WriteTable(out, fields(reflect.TypeFor[Element]()), l.N, func(data []byte, at int) []byte {
				data, _ = binary.Append(data, binary.LittleEndian, l.Element(at)) // an element has a fixed size
				return data
			})
		},
	}.WriteFile(path, l.What)
}

func (l List[Row, Element]) rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for at := range l.N {
			if !yield(l.Row(at)) {
				return
			}
		}
	}
}

// WriteCSV writes the rows as CSV. Values that are absent are empty.
func (l List[Row, Element]) WriteCSV(out io.Writer) error {
	var columns []string
	for field := range reflect.TypeFor[Row]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		columns = append(columns, name)
	}
	return records.CSV(out, columns, func(yield func([]string, error) bool) {
		for row := range l.rows() {
			if !yield(texts(reflect.ValueOf(row)), nil) {
				return
			}
		}
	})
}

func fields(element reflect.Type) (all []npy.Field) {
	types := map[reflect.Kind]string{reflect.Int32: "<i4", reflect.Float64: "<f8", reflect.Uint8: "|u1",
		reflect.Bool: "|b1"}
	for _, field := range reflect.VisibleFields(element) {
		if !field.Anonymous {
			all = append(all, npy.Field{Name: field.Tag.Get("npy"), Type: types[field.Type.Kind()]})
		}
	}
	return all
}

func texts(row reflect.Value) []string {
	out := make([]string, row.NumField())
	for i := range out {
		value := row.Field(i)
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				continue
			}
			value = value.Elem()
		}
		if out[i] = fmt.Sprint(value); value.Kind() == reflect.Float64 {
			out[i] = labels.Digits(value.Float())
		}
	}
	return out
}
