package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"nmn/format/npy"
)

// readNPY reads a matrix in NumPy's format, versions 1 to 3: float16, float32, float64, any integer
// or bool, either byte order, C or Fortran layout. size is the length of the file, or -1 when
// unknown. Memory grows with the data that are there, whatever the header claims.
func readNPY(r io.Reader, file string, size int64, rule cellRule) (*Matrix, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	h, headerBytes, err := npy.ReadHeader(b)
	if errors.Is(err, npy.ErrFormat) {
		err = fmt.Errorf("%w: %w", err, ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rows, cols, err := shapeOf(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m := &Matrix{Name: file, Rows: rows, Cols: cols}
	if size >= 0 {
		if want := headerBytes + int64(rows)*int64(cols)*int64(h.Width); size != want {
			return nil, fmt.Errorf("%s: %d bytes, want %d for %d×%d of %q (cut short, or another file appended): %w",
				file, size, want, rows, cols, h.Descr, ErrShape)
		}
		m.Values = make([]float32, 0, rows*cols)
	}
	if err := m.readValues(b, h, rule); err != nil {
		return nil, err
	}
	if _, err := b.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more bytes than %d×%d of %q: %w", file, rows, cols, h.Descr, ErrShape)
	}
	if h.Fortran {
		m.Values = transposed(m.Values, rows, cols)
	}
	return m, nil
}

// readTogether is how many elements are read at a time.
const readTogether = 8192

// readValues appends the elements in the order of the file.
func (m *Matrix) readValues(r io.Reader, h *npy.Header, rule cellRule) error {
	buffer := make([]byte, readTogether*h.Width)
	total := m.Rows * m.Cols
	for first := 0; first < total; first += readTogether {
		wanted := min(readTogether, total-first)
		read, err := io.ReadFull(r, buffer[:wanted*h.Width])
		whole := read / h.Width
		for i := range whole {
			v := h.Float64(buffer[i*h.Width : (i+1)*h.Width])
			if err := rule(v); err != nil {
				row, column := m.place(first+i, h.Fortran)
				return fmt.Errorf("%s: row %d, column %d: %w", m.Name, row, column, err)
			}
			m.Values = append(m.Values, float32(v))
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = ErrShape
			}
			row, column := m.place(first+whole, h.Fortran)
			return fmt.Errorf("%s: file ends at row %d, column %d of %d×%d: %w",
				m.Name, row, column, m.Rows, m.Cols, err)
		}
	}
	return nil
}

// place is row and column, counted from 1, of an element of the file.
func (m *Matrix) place(i int, fortran bool) (row, column int) {
	if fortran {
		return i%m.Rows + 1, i/m.Rows + 1
	}
	return i/m.Cols + 1, i%m.Cols + 1
}

func transposed(values []float32, rows, cols int) []float32 {
	out := make([]float32, len(values))
	for c := range cols {
		for i, v := range values[c*rows : (c+1)*rows] {
			out[i*cols+c] = v
		}
	}
	return out
}

// shapeOf returns the shape when it is a matrix that can be held.
func shapeOf(h *npy.Header) (rows, cols int, err error) {
	if len(h.Shape) != 2 {
		return 0, 0, fmt.Errorf("array of shape %v, want bags × words: %w", h.Shape, ErrShape)
	}
	rows, cols = h.Shape[0], h.Shape[1]
	if rows < 1 || cols < 1 {
		return 0, 0, fmt.Errorf("array of shape %v is empty: %w", h.Shape, ErrShape)
	}
	if rows > math.MaxInt/8/cols {
		return 0, 0, fmt.Errorf("array of shape %v is too large: %w", h.Shape, ErrShape)
	}
	return rows, cols, nil
}
