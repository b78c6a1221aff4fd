package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

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
	rows, cols, err := shapeOf(h, rule.single)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m := &Matrix{Name: file, Rows: rows, Cols: cols}
	if size >= 0 {
		if want := headerBytes + int64(rows)*int64(cols)*int64(h.Width); size != want {
			return nil, fmt.Errorf("%s: %d bytes, want %d for %d×%d of %q (cut short, or another file appended): %w",
				file, size, want, rows, cols, h.Descr, ErrShape)
		}
	}
	held := 0 // elements there is room for from the start
	if size >= 0 {
		held = rows * cols
	}
	if rule.limit > 0 && h.Width == 1 && (h.Descr != "|i1" || rule.gaps) {
		m.Counts = make([]uint8, 0, held)
		err = m.readCounts(b, h, rule)
	} else {
		m.Values = make([]float32, 0, held)
		err = m.readValues(b, h, rule)
	}
	if err != nil {
		return nil, err
	}
	if _, err := b.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more bytes than %d×%d of %q: %w", file, rows, cols, h.Descr, ErrShape)
	}
	if h.Fortran {
		m.Values, m.Counts = transposed(m.Values, rows, cols), transposed(m.Counts, rows, cols)
	}
	return m, nil
}

// readTogether is how many elements are read at a time.
const readTogether = 1 << 16

// readValues appends the elements in the order of the file.
func (m *Matrix) readValues(r io.Reader, h *npy.Header, rule cellRule) error {
	buffer := make([]byte, readTogether*h.Width)
	return m.inPieces(h, func(first, n int) (int, error) {
		read, err := io.ReadFull(r, buffer[:n*h.Width])
		n = read / h.Width
		m.Values = slices.Grow(m.Values, n)[:first+n]
		h.Float32s(m.Values[first:], buffer[:n*h.Width])
		if rule.clean != nil && rule.clean(m.Values[first:]) {
			return n, err
		}
		for i := range n {
			if fault := rule.fault(h.Float64(buffer[i*h.Width : (i+1)*h.Width])); fault != nil {
				return n, m.at(first+i, h, fault)
			}
			m.Values[first+i] = rule.held(m.Values[first+i])
		}
		return n, err
	})
}

// readCounts appends elements that are bytes, in the order of the file.
func (m *Matrix) readCounts(r io.Reader, h *npy.Header, rule cellRule) error {
	return m.inPieces(h, func(first, n int) (int, error) {
		m.Counts = slices.Grow(m.Counts, n)[:first+n]
		n, err := io.ReadFull(r, m.Counts[first:])
		m.Counts = m.Counts[:first+n]
		for i, v := range m.Counts[first:] {
			if int(v) > rule.limit && !(v == Unknown && rule.gaps && h.Descr == "|i1") { // the byte of -1
				return n, m.at(first+i, h, rule.fault(h.Float64(m.Counts[first+i:][:1])))
			}
		}
		return n, err
	})
}

// inPieces calls read for the elements of a file from the first one on, some at a time: it returns how many were there.
func (m *Matrix) inPieces(h *npy.Header, read func(first, n int) (int, error)) error {
	total := m.Rows * m.Cols
	for first := 0; first < total; first += readTogether {
		n, err := read(first, min(readTogether, total-first))
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			row, column := m.place(first+n, h.Fortran)
			return fmt.Errorf("%s: file ends at row %d, column %d of %d×%d: %w", m.Name, row, column, m.Rows, m.Cols, ErrShape)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// at adds the place of a faulty element to its error.
func (m *Matrix) at(i int, h *npy.Header, fault error) error {
	row, column := m.place(i, h.Fortran)
	return fmt.Errorf("%s: row %d, column %d: %w", m.Name, row, column, fault)
}

// place is row and column, counted from 1, of an element of the file.
func (m *Matrix) place(i int, fortran bool) (row, column int) {
	if fortran {
		return i%m.Rows + 1, i/m.Rows + 1
	}
	return i/m.Cols + 1, i%m.Cols + 1
}

// transposed turns values ordered by columns into rows. nil stays nil.
func transposed[T any](values []T, rows, cols int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(values))
	for c := range cols {
		for i, v := range values[c*rows : (c+1)*rows] {
			out[i*cols+c] = v
		}
	}
	return out
}

// shapeOf returns the shape when it is a matrix that can be held, or a single column.
func shapeOf(h *npy.Header, single bool) (rows, cols int, err error) {
	switch {
	case single && len(h.Shape) == 1:
		rows, cols = h.Shape[0], 1
	case single && (len(h.Shape) != 2 || h.Shape[1] != 1):
		return 0, 0, fmt.Errorf("array of shape %v, want one label for each sample: %w", h.Shape, ErrShape)
	case len(h.Shape) != 2:
		return 0, 0, fmt.Errorf("array of shape %v, want samples × classes: %w", h.Shape, ErrShape)
	default:
		rows, cols = h.Shape[0], h.Shape[1]
	}
	if rows < 1 || cols < 1 {
		return 0, 0, fmt.Errorf("array of shape %v is empty: %w", h.Shape, ErrShape)
	}
	if rows > math.MaxInt/8/cols {
		return 0, 0, fmt.Errorf("array of shape %v is too large: %w", h.Shape, ErrShape)
	}
	return rows, cols, nil
}
