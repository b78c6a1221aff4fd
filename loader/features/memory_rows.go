package features

import (
	"fmt"

	"nmn/internal/memory"
)

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
