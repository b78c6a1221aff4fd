package features

import (
	"fmt"
	"io"
	"math"
	"sync"

	"nmn/internal/memory"
)

// Rows are N feature vectors of D numbers each.
type Rows interface {
	Len() int   // N
	Width() int // D
	// Read copies row i into dst, which has D elements. It may be called by several goroutines at once. A
	// number that is not finite is an error that wraps ErrValue; if missing values are allowed, they are NaN.
	Read(i int, dst []float32) error
	Close() error
}

// array is a matrix inside a file: rows of fixed size, one after another.
type array struct {
	data        io.ReaderAt // from the first element on
	rows, width int
	element     int                               // bytes
	decode      func(dst []float32, bytes []byte) // fills len(dst) elements
	vector      bool                              // has one dimension
}

// isVector reports whether rows are from an array of one dimension.
func isVector(r Rows) bool {
	switch r := r.(type) {
	case *fileRows:
		return r.vector
	case *memoryRows:
		return r.vector
	}
	return false
}

// fileRows are read from disk when they are asked for.
type fileRows struct {
	array
	name    string
	missing bool // NaN is allowed
	buffers sync.Pool
	closer  io.Closer
}

func newFileRows(name string, a array, missing bool, closer io.Closer) *fileRows {
	f := &fileRows{array: a, name: name, missing: missing, closer: closer}
	f.buffers.New = func() any { b := make([]byte, a.width*a.element); return &b }
	return f
}

func (f *fileRows) Len() int   { return f.rows }
func (f *fileRows) Width() int { return f.width }

func (f *fileRows) Read(i int, dst []float32) error {
	if i < 0 || i >= f.rows {
		return fmt.Errorf("features: there is no row %d among the %d of %q", i+1, f.rows, f.name)
	}
	buffer := f.buffers.Get().(*[]byte)
	defer f.buffers.Put(buffer)
	if err := readFull(f.data, *buffer, int64(i)*int64(len(*buffer))); err != nil {
		return fmt.Errorf("features: cannot read row %d of %q: %w", i+1, f.name, err)
	}
	f.decode(dst[:f.width], *buffer)
	return f.check(i, dst[:f.width])
}

// check finds the first number that cannot be a feature.
func (f *fileRows) check(i int, row []float32) error {
	for c, v := range row {
		if unusable(v, f.missing) {
			return valuef("features: %q, row %d, column %d is %v: %s", f.name, i+1, c+1, v, cureOf(v))
		}
	}
	return nil
}

func (f *fileRows) Close() error { return f.closer.Close() }

// unusable reports whether a number is not finite, except for a NaN that stands for a missing value.
func unusable(v float32, missing bool) bool {
	if v != v {
		return !missing
	}
	return math.IsInf(float64(v), 0)
}

// cureOf returns what to do about a number that is not finite.
func cureOf(v float32) string {
	if v != v {
		return "repair or remove the row, or allow missing values (`data.features.missing_values` mean)"
	}
	return "it is infinite or beyond float32; repair or remove the row"
}

// readFull fills p from an offset: io.ReaderAt may return io.EOF together with the last bytes.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// Rows in memory are stored in blocks, so that adding rows does not copy the existing ones.
const (
	blockBytes    = 1 << 20 // size of a block, or one row if that is longer
	blocksAtATime = 64      // whose memory is asked for together
)

// memoryRows were decoded into memory, where their values were checked too.
type memoryRows struct {
	width, rows int
	perBlock    int // rows
	blocks      [][]float32
	vector      bool // an array of one dimension
}

func newMemoryRows(width int) *memoryRows {
	return &memoryRows{width: width, perBlock: max(1, blockBytes/(4*width))}
}

// add appends a row of width numbers; it returns an error that wraps memory.ErrFull if there is no room.
func (m *memoryRows) add(row []float32) error {
	at := m.rows / m.perBlock
	if at == len(m.blocks) {
		if bytes := 4 * int64(m.perBlock) * int64(m.width); at%blocksAtATime == 0 {
			if err := memory.Check(fmt.Sprintf("the features after row %d", m.rows), bytes*blocksAtATime); err != nil {
				return fmt.Errorf("%w: write them as .npy, which stays on disk (`features.output` features.npy)", err)
			}
		}
		m.blocks = append(m.blocks, make([]float32, 0, m.perBlock*m.width))
	}
	m.blocks[at] = append(m.blocks[at], row...)
	m.rows++
	return nil
}

// bytes is the memory of the rows.
func (m *memoryRows) bytes() int64 { return 4 * int64(m.rows) * int64(m.width) }

func (m *memoryRows) Len() int   { return m.rows }
func (m *memoryRows) Width() int { return m.width }

func (m *memoryRows) Read(i int, dst []float32) error {
	if i < 0 || i >= m.rows {
		return fmt.Errorf("features: there is no row %d among %d", i+1, m.rows)
	}
	from := i % m.perBlock * m.width
	copy(dst, m.blocks[i/m.perBlock][from:from+m.width])
	return nil
}

func (m *memoryRows) Close() error { return nil }
