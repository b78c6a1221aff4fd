package misplaced

// Units are handled in blocks, which goroutines share. Sums are added block by block, so that results do not
// depend on how many goroutines there are.
const (
	fewBlocks   = 16
	mostBlocks  = 64
	manyBlocked = 1 << 18 // units from which there are mostBlocks
)

func blocksOf(units int) int {
	if units < manyBlocked {
		return fewBlocks
	}
	return mostBlocks
}

// block are the units of a block.
func (f *finder) block(b int) (from, to int) {
	units := len(f.units)
	return b * units / f.blocks, (b + 1) * units / f.blocks
}

// sumBlocks adds the vectors of blocks, in their order.
func sumBlocks(blocks [][]float64) []float64 {
	sum := make([]float64, len(blocks[0]))
	for _, block := range blocks {
		for i, v := range block {
			sum[i] += v
		}
	}
	return sum
}
