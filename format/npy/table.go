package npy

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Field is a column of a table: its name, and the type of its elements as NumPy spells it, such as <f8.
type Field struct{ Name, Type string }

// bytes is the width of an element.
func (f Field) bytes() int { return int(f.Type[2] - '0') }

// WriteTable writes a table of n rows as a structured array of one dimension, whose fields follow each other
// without gaps. row appends the little-endian bytes of row i. It is called in order, and rows are written as
// they are made.
func WriteTable(w io.Writer, fields []Field, n int, row func(data []byte, i int) []byte) error {
	width := 0
	for _, f := range fields {
		width += f.bytes()
	}
	data := tableHeader(fields, n)
	for i := range n {
		before := len(data)
		if data = row(data, i); len(data)-before != width {
			return fmt.Errorf("npy: row %d has %d bytes, want %d", i+1, len(data)-before, width)
		}
		if len(data) >= bufferBytes {
			if _, err := w.Write(data); err != nil {
				return fmt.Errorf("npy: cannot write the rows up to %d: %w", i+1, err)
			}
			data = data[:0]
		}
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("npy: cannot write the last rows: %w", err)
	}
	return nil
}

// tableHeader returns the bytes before the rows of a table. NumPy aligns data by multiples of 64 bytes.
func tableHeader(fields []Field, n int) []byte {
	const aligned = 64
	b := append(make([]byte, 0, bufferBytes), Magic+"\x01\x00\x00\x00{'descr': ["...)
	for _, f := range fields {
		b = fmt.Appendf(b, "('%s', '%s'), ", f.Name, f.Type)
	}
	b = fmt.Appendf(b, "], 'fortran_order': False, 'shape': (%d,), }", n)
	for len(b)%aligned != aligned-1 {
		b = append(b, ' ')
	}
	b = append(b, '\n')
	lengthAt := len(Magic) + 2
	binary.LittleEndian.PutUint16(b[lengthAt:], uint16(len(b)-lengthAt-2))
	return b
}
