//go:build cuda

package conv

import (
	"fmt"
	"math"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

// The constants of bias.cu.
const (
	biasTile    = 32  // channels of a block
	biasThreads = 256 // of a block
	// biasPart is the number of cells that a thread should have; the cells are cut into parts
	// accordingly, by the shape alone, so that results are equal on all cards.
	biasPart     = 16
	biasMaxParts = 256
)

// ConvGradBias implements Ops. Cells are summed in float64, 32 of them in float32 before.
func (c *CUDA) ConvGradBias(db, dy *tensor.Tensor, p Params) error {
	const operation = "conv bias gradient"
	if db == nil || dy == nil || db.Rank() != 1 || dy.Rank() != 4 || dy.Dim(3) != db.Len() {
		return fmt.Errorf("%s: bias %s, output %s: %w", operation, db, dy, tensor.ErrShape)
	}
	if err := tensor.OnDevice(operation, tensor.Float32, db, dy); err != nil || db.Len() == 0 {
		return err
	}
	channels, cells := db.Len(), dy.Len()/db.Len()
	lanes := 1
	if channels%4 == 0 && dy.Address()%16 == 0 {
		lanes = 4
	}
	block := cuda.Dim3{X: biasTile / lanes, Y: biasThreads * lanes / biasTile}
	tiles, parts := tensor.Ceil(channels, biasTile), min(max(1, tensor.Ceil(cells, block.Y*biasPart)), biasMaxParts)
	if channels > math.MaxInt32/biasTile {
		return fmt.Errorf("%s: %d channels are more than a launch can have: %w", operation, channels, tensor.ErrShape)
	}
	partial, err := c.partial.Reserve(c.device, 8*parts*channels)
	if err != nil {
		return err
	}
	tickets, err := c.tickets.Reserve(c.device, 4*tiles)
	if err != nil {
		return err
	}
	return c.bias.launchBiasGradient(c.device.Stream, cuda.Dim3{X: tiles, Y: parts}, block, biasGradientArguments{
		db: tensor.At(db), dy: tensor.At(dy), partial: partial, tickets: tickets,
		cells: int64(cells), channels: int32(channels), accumulate: number(p.Accumulate), lanes: int32(lanes),
	})
}

// addBias is the end of Conv where the convolution itself has neither bias nor ReLU.
func (c *CUDA) addBias(y, b *tensor.Tensor, relu bool) error {
	return c.bias.launchAddBias(c.device.Stream, tensor.Spread(tensor.Ceil(y.Len(), 4), biasThreads), cuda.Dim3{X: biasThreads}, addBiasArguments{
		y: tensor.At(y), bias: tensor.At(b), length: int64(y.Len()), channels: int32(y.Dim(3)), relu: number(relu),
	})
}

// endGradient writes a gradient that stands in added to d: masked, or added to what d holds.
func (c *CUDA) endGradient(d *tensor.Tensor, added cuda.Address, mask *tensor.Tensor, accumulate bool) error {
	return c.bias.launchEndGradient(c.device.Stream, tensor.Spread(tensor.Ceil(d.Len(), 4), biasThreads), cuda.Dim3{X: biasThreads}, endGradientArguments{
		dx: tensor.At(d), added: added, mask: tensor.At(mask), length: int64(d.Len()), accumulate: number(accumulate),
	})
}

func number(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
