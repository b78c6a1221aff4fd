package conv

import (
	"cmp"

	"nmn/kernels/tensor"
)

// biasSum is a bias gradient in progress. Blocks of cells are summed in float32, then the blocks in
// float64: a sum over a million cells keeps its digits.
type biasSum struct {
	dy              []float32
	channels, cells int
}

const biasCells = 512 // cells in a block

func (c *CPU) ConvGradBias(db, dy *tensor.Tensor, p Params) error {
	if err := cmp.Or(fitBias("conv bias gradient", db, dy),
		tensor.OnHost("conv bias gradient", tensor.Float32, db, dy)); err != nil {
		return err
	}
	if db.Len() == 0 {
		return nil
	}
	b := &c.bias
	*b = biasSum{dy: dy.Float32s(), channels: db.Len(), cells: dy.Len() / db.Len()}
	blocks := tensor.Ceil(b.cells, biasCells)
	c.partial = tensor.Grow(c.partial, blocks*b.channels)
	clear(c.partial)
	c.workers.Run(blocks, c.tasks.bias)
	sums := db.Float32s()
	for k := range sums {
		var sum float64
		if p.Accumulate {
			sum = float64(sums[k])
		}
		for block := range blocks {
			sum += float64(c.partial[block*b.channels+k])
		}
		sums[k] = float32(sum)
	}
	c.bias = biasSum{}
	return nil
}

// ConvGradDataBias implements Ops by two passes.
func (c *CPU) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p Params) error {
	if err := cmp.Or(fitBias("conv data and bias gradient", db, dx),
		tensor.OnHost("conv data and bias gradient", tensor.Float32, db)); err != nil {
		return err
	}
	if err := c.ConvGradData(dx, dy, w, mask, Params{Pad: p.Pad, Stride: p.Stride}); err != nil {
		return err
	}
	return c.ConvGradBias(db, dx, Params{Accumulate: p.Accumulate})
}

func (c *CPU) biasBlock(_, index int) {
	b := &c.bias
	first := index * biasCells
	rows := min(biasCells, b.cells-first)
	c.level.SumRows(c.partial[index*b.channels:][:b.channels], b.dy[first*b.channels:], b.channels, rows)
}
