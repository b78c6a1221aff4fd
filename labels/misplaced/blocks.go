package misplaced

import (
	"context"

	"nmn/internal/parallel"
)

// Bags are handled in blocks, which goroutines share: sums are added block by block, so that results do not depend on
// how many goroutines there are.
const (
	fewBlocks   = 16
	mostBlocks  = 64
	manyBlocked = 1 << 18 // bags from which there are mostBlocks
)

func blocksOf(bags int) int {
	if bags < manyBlocked {
		return fewBlocks
	}
	return mostBlocks
}

// blocksOfBags hands out the blocks to goroutines: their bags, from one up to another.
func (f *finder) blocksOfBags(ctx context.Context, handle func(block, from, to int)) error {
	return parallel.Run(ctx, f.blocks, f.threads, func() func(int) {
		return func(b int) {
			from, to := f.block(b)
			handle(b, from, to)
		}
	})
}

// block are the bags of a block.
func (f *finder) block(b int) (from, to int) {
	bags := len(f.in.Captions)
	return b * bags / f.blocks, (b + 1) * bags / f.blocks
}

// eachBlock hands out the blocks to goroutines; start makes what handles the bags of a block, in order.
func (f *finder) eachBlock(ctx context.Context, start func(block int) func(bag int)) error {
	return f.blocksOfBags(ctx, func(block, from, to int) {
		handle := start(block)
		for n := from; n < to; n++ {
			if n%64 == 0 && ctx.Err() != nil {
				return // blocksOfBags has the error
			}
			handle(n)
		}
	})
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

// sumCaptions adds the sums of all captions; sum returns the sum of a block, from up to to.
func (f *finder) sumCaptions(ctx context.Context, sum func(from, to int) float64) (total float64, err error) {
	own := make([]float64, f.blocks)
	err = f.blocksOfBags(ctx, func(block, from, to int) { own[block] = sum(f.first[from], f.first[to]) })
	for _, v := range own {
		total += v
	}
	return total, err
}
