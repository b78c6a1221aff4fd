package eval

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxHeader bounds the header of an .npy file; a matrix needs about a hundred bytes.
const maxHeader = 1 << 16

// readNPY reads a matrix in NumPy's format, versions 1 to 3: float16, float32, float64, any integer
// or bool, either byte order, C or Fortran layout. size is the length of the file, or -1 when
// unknown. Memory grows with the data that are there, whatever the header claims.
func readNPY(r io.Reader, file string, size int64, rule cellRule) (*Matrix, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	h, headerBytes, err := readNPYHeader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rows, cols, err := h.matrix()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m := &Matrix{Name: file, Rows: rows, Cols: cols}
	if size >= 0 {
		if want := headerBytes + int64(rows)*int64(cols)*int64(h.width); size != want {
			return nil, fmt.Errorf("%s: %d bytes, want %d for %d×%d of %q (cut short, or another file appended): %w", file, size, want, rows, cols, h.descr, ErrShape)
		}
		m.Values = make([]float32, 0, rows*cols)
	}
	if err := m.readValues(b, h, rule); err != nil {
		return nil, err
	}
	if _, err := b.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more bytes than %d×%d of %q: %w", file, rows, cols, h.descr, ErrShape)
	}
	if h.fortran {
		m.Values = transposed(m.Values, rows, cols)
	}
	return m, nil
}

// readValues appends the elements in the order of the file.
func (m *Matrix) readValues(r io.Reader, h *npyHeader, rule cellRule) error {
	buffer := make([]byte, h.width)
	for i := range m.Rows * m.Cols {
		row, column := i/m.Cols+1, i%m.Cols+1
		if h.fortran {
			row, column = i%m.Rows+1, i/m.Rows+1
		}
		if _, err := io.ReadFull(r, buffer); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = ErrShape
			}
			return fmt.Errorf("%s: file ends at row %d, column %d of %d×%d: %w", m.Name, row, column, m.Rows, m.Cols, err)
		}
		v := h.decode(buffer)
		if err := rule(v); err != nil {
			return fmt.Errorf("%s: row %d, column %d: %w", m.Name, row, column, err)
		}
		m.Values = append(m.Values, float32(v))
	}
	return nil
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

// matrix returns the shape when it is a matrix that can be held.
func (h *npyHeader) matrix() (rows, cols int, err error) {
	if len(h.shape) != 2 {
		return 0, 0, fmt.Errorf("array of shape %v, want bags × words: %w", h.shape, ErrShape)
	}
	rows, cols = h.shape[0], h.shape[1]
	if rows < 1 || cols < 1 {
		return 0, 0, fmt.Errorf("array of shape %v is empty: %w", h.shape, ErrShape)
	}
	if rows > math.MaxInt/8/cols {
		return 0, 0, fmt.Errorf("array of shape %v is too large: %w", h.shape, ErrShape)
	}
	return rows, cols, nil
}

// decode widens one element to float64.
func (h *npyHeader) decode(b []byte) float64 {
	var bits uint64
	switch h.width {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(h.order.Uint16(b))
	case 4:
		bits = uint64(h.order.Uint32(b))
	default:
		bits = h.order.Uint64(b)
	}
	switch {
	case h.kind == 'f' && h.width == 8:
		return math.Float64frombits(bits)
	case h.kind == 'f' && h.width == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case h.kind == 'f':
		return halfFloat(uint16(bits))
	case h.kind == 'i':
		unused := 64 - 8*h.width
		return float64(int64(bits<<unused) >> unused) // sign extension
	}
	return float64(bits)
}

// halfFloat widens an IEEE 754 binary16 number.
func halfFloat(h uint16) float64 {
	exponent, mantissa := int(h>>10&31), float64(h&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(mantissa, -24)
	case 31:
		v = math.Inf(1)
		if mantissa != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(mantissa+1024, exponent-25)
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}

func byteOrder(mark byte) binary.ByteOrder {
	if mark == '>' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
