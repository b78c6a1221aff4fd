package update

import (
	"fmt"
	"math"

	"nmn/kernels/tensor"
)

// GradNorm implements Ops. Squares are summed in float64, first within each block, then over the
// blocks in order.
func (c *CPU) GradNorm(norm *tensor.Tensor, entries []Entry) error {
	const operation = "gradient norm"
	if err := fitNorm(operation, norm); err != nil {
		return err
	}
	if norm.Float32s() == nil {
		return tensor.Misfit(operation, "norm is not in host memory")
	}
	if err := c.cut(operation, entries, UseG); err != nil {
		return err
	}
	blocks := len(c.job.runs)
	if cap(c.partial) < blocks {
		c.partial = make([]float64, blocks)
	}
	c.partial = c.partial[:blocks]
	c.workers.Run(blocks, c.squaresBlock)
	sum := 0.0
	for _, s := range c.partial {
		sum += s
	}
	norm.Float32s()[0] = float32(math.Sqrt(sum))
	c.release()
	return nil
}

func (c *CPU) runSquaresBlock(_, block int) {
	c.partial[block] = c.level.SumSquares(c.job.runs[block].g)
}

// Clip implements Ops. Gradients stay unchanged if the norm is NaN. With an infinite norm the finite ones
// become 0.
func (c *CPU) Clip(entries []Entry, norm *tensor.Tensor, limit float32) error {
	const operation = "clip"
	if err := fitClip(norm, limit); err != nil {
		return err
	}
	if norm.Float32s() == nil {
		return tensor.Misfit(operation, "norm is not in host memory")
	}
	if err := c.cut(operation, entries, UseG); err != nil {
		return err
	}
	if n := norm.Float32s()[0]; n > limit {
		c.job.scale = limit / n
		c.workers.Run(len(c.job.runs), c.scaleBlock)
	}
	c.release()
	return nil
}

func (c *CPU) runScaleBlock(_, block int) {
	c.level.Scale(c.job.runs[block].g, c.job.scale)
}

// Zero implements Ops, for any type of element.
func (c *CPU) Zero(t *tensor.Tensor) error {
	switch {
	case t == nil:
		return fmt.Errorf("zero: no tensor: %w", tensor.ErrShape)
	case t.Memory() == nil:
		return fmt.Errorf("zero: %s is not in host memory: %w", t, tensor.ErrShape)
	}
	clear(t.Memory())
	return nil
}
