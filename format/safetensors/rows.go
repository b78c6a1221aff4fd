package safetensors

import (
	"fmt"
	"io"
	"math"
)

// RowWriter writes a file of one F32 matrix row by row, in bounded memory. The number of rows is put into the
// header at the end, so it need not be known in advance.
type RowWriter struct {
	w             io.WriteSeeker
	name          string
	meta          map[string]string
	rows, columns int
	room          int // bytes of the header
	buffer        []byte
}

// numbersRoom is the room in the header for the digits of the number of rows and of bytes.
const numbersRoom = 64

// NewRowWriter starts a file at the current offset of w, which must be 0.
func NewRowWriter(w io.WriteSeeker, meta map[string]string, name string, columns int) (*RowWriter, error) {
	r := &RowWriter{w: w, name: name, meta: meta, columns: columns}
	if columns < 1 {
		return nil, fmt.Errorf("safetensors: tensor %q: a matrix of %d columns", name, columns)
	}
	header, err := r.header()
	if err != nil {
		return nil, err
	}
	r.room = len(header) + numbersRoom
	if header, err = r.header(); err != nil {
		return nil, err
	}
	if _, err := w.Write(header); err != nil {
		return nil, fmt.Errorf("safetensors: cannot write the header: %w", err)
	}
	return r, nil
}

// header is the header for the rows so far, padded to its reserved room.
func (r *RowWriter) header() ([]byte, error) {
	tensors, err := resolve([]Tensor{{Name: r.name, DType: F32, Shape: []int{r.rows, r.columns},
		Data: func(io.Writer) error { return nil }}})
	if err != nil {
		return nil, err
	}
	header, err := formatHeader(r.meta, tensors)
	if err != nil {
		return nil, err
	}
	for len(header) < r.room {
		header = append(header, ' ')
	}
	little.PutUint64(header, uint64(len(header)-8))
	return header, nil
}

// Write appends a row.
func (r *RowWriter) Write(row []float32) error {
	if len(row) != r.columns {
		return fmt.Errorf("safetensors: tensor %q: row %d has %d values, want %d", r.name, r.rows+1, len(row), r.columns)
	}
	for _, v := range row {
		r.buffer = little.AppendUint32(r.buffer, math.Float32bits(v))
	}
	r.rows++
	const flushSize = 1 << 16
	if len(r.buffer) < flushSize {
		return nil
	}
	return r.flush()
}

func (r *RowWriter) flush() error {
	if _, err := r.w.Write(r.buffer); err != nil {
		return fmt.Errorf("safetensors: cannot write the rows of %q up to %d: %w", r.name, r.rows, err)
	}
	r.buffer = r.buffer[:0]
	return nil
}

// Rows is the number of rows so far.
func (r *RowWriter) Rows() int { return r.rows }

// Close puts the number of rows into the header and leaves w at the end of the file.
func (r *RowWriter) Close() error {
	if err := r.flush(); err != nil {
		return err
	}
	header, err := r.header()
	if err != nil {
		return err
	}
	return rewriteHeader(r.w, header)
}
