package update

import (
	"fmt"

	"nmn/kernels/tensor"
)

// Part is a run of elements of a gradient that one of several ranks sums for all.
type Part struct {
	// Ranks are these elements in the memory of each rank, in their order.
	Ranks [][]float32
	// Own is the rank whose memory gets the sum.
	Own int
}

// Divider is a device whose memory other ranks can hold too, so that each rank updates a part of every parameter; ask
// by a type assertion. A part that begins at a multiple of Block is updated as the whole would be, bit for bit.
type Divider interface {
	// SumParts replaces each part, in the memory of Own, by scale times its sum over the ranks, added in their order. It
	// writes the sum of squares of each Block of each part, one part after the other, to squares: of as many as
	// Blocks says for all parts together.
	SumParts(squares []float64, parts []Part, scale float32) error
}

// Blocks is how many blocks so many elements have.
func Blocks(elements int) int { return (elements + Block - 1) / Block }

// FitParts checks that a part has one length on all ranks, of which Own is one, and that there is a square for each
// block.
func FitParts(squares []float64, parts []Part) error {
	blocks := 0
	for i, p := range parts {
		if p.Own < 0 || p.Own >= len(p.Ranks) {
			return fmt.Errorf("sum of parts: part %d is of rank %d of %d: %w", i, p.Own, len(p.Ranks), tensor.ErrShape)
		}
		for rank, theirs := range p.Ranks {
			if len(theirs) != len(p.Ranks[p.Own]) {
				return fmt.Errorf("sum of parts: part %d has %d elements on rank %d, %d on rank %d: %w", i, len(theirs), rank,
					len(p.Ranks[p.Own]), p.Own, tensor.ErrShape)
			}
		}
		blocks += Blocks(len(p.Ranks[p.Own]))
	}
	if len(squares) != blocks {
		return fmt.Errorf("sum of parts: room for %d sums of squares, want %d: %w", len(squares), blocks, tensor.ErrShape)
	}
	return nil
}
