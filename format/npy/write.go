package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// headerBytes is the length of the headers that are written: room for any number of rows and columns,
// and a multiple of 64, as NumPy aligns its data.
const headerBytes = 128

// bufferBytes is how much is collected before it is written.
const bufferBytes = 1 << 16

// Writer writes a matrix of little-endian float32 row by row, in bounded memory. The number of rows is put
// into the header at the end, so it need not be known in advance.
type Writer struct {
	w             io.WriteSeeker
	rows, columns int
	buffer        []byte
}

// NewWriter starts a file at the current offset of w, which must be 0.
func NewWriter(w io.WriteSeeker, columns int) (*Writer, error) {
	if columns < 1 {
		return nil, fmt.Errorf("npy: a matrix of %d columns", columns)
	}
	n := &Writer{w: w, columns: columns}
	if _, err := w.Write(n.header()); err != nil {
		return nil, fmt.Errorf("npy: cannot write the header: %w", err)
	}
	return n, nil
}

func (n *Writer) header() []byte { return Float32Header(n.rows, n.columns) }

// Float32Header returns the bytes before little-endian float32 in row-major order of a shape, of at most four
// dimensions.
func Float32Header(shape ...int) []byte { return headerOf("<f4", shape) }

// Int8Header returns the bytes before signed bytes of a shape.
func Int8Header(shape ...int) []byte { return headerOf("|i1", shape) }

// Int64Header returns the bytes before n little-endian 64-bit integers.
func Int64Header(n int) []byte { return headerOf("<i8", []int{n}) }

func headerOf(descr string, shape []int) []byte {
	b := append(make([]byte, 0, headerBytes), Magic+"\x01\x00"...)
	b = binary.LittleEndian.AppendUint16(b, headerBytes-uint16(len(b))-2)
	b = append(b, "{'descr': '"+descr+"', 'fortran_order': False, 'shape': ("...)
	for i, d := range shape {
		if i > 0 {
			b = append(b, ' ')
		}
		b = fmt.Appendf(b, "%d,", d)
	}
	b = append(b, "), }"...)
	for len(b) < headerBytes-1 {
		b = append(b, ' ')
	}
	return append(b, '\n')
}

// Write appends a row.
func (n *Writer) Write(row []float32) error {
	if len(row) != n.columns {
		return fmt.Errorf("npy: row %d has %d values, want %d", n.rows+1, len(row), n.columns)
	}
	for _, v := range row {
		n.buffer = binary.LittleEndian.AppendUint32(n.buffer, math.Float32bits(v))
	}
	n.rows++
	if len(n.buffer) < bufferBytes {
		return nil
	}
	return n.flush()
}

func (n *Writer) flush() error {
	if _, err := n.w.Write(n.buffer); err != nil {
		return fmt.Errorf("npy: cannot write the rows up to %d: %w", n.rows, err)
	}
	n.buffer = n.buffer[:0]
	return nil
}

// Rows is the number of rows so far.
func (n *Writer) Rows() int { return n.rows }

// Close puts the number of rows into the header and leaves w at the end of the file.
func (n *Writer) Close() error {
	if err := n.flush(); err != nil {
		return err
	}
	if _, err := n.w.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("npy: cannot go back to the header: %w", err)
	}
	if _, err := n.w.Write(n.header()); err != nil {
		return fmt.Errorf("npy: cannot write the header: %w", err)
	}
	_, err := n.w.Seek(0, io.SeekEnd)
	return err
}
