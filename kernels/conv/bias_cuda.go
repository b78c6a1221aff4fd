//go:build cuda

package conv

import (
	"cmp"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

const biasThreads = 256 // of a block

// ConvGradBias implements Ops. dy may be bfloat16, db is float32. Cells are summed in float32 by groups of
// 32, and the groups in float64.
func (c *CUDA) ConvGradBias(db, dy *tensor.Tensor, p Params) error {
	const operation = "conv bias gradient"
	if err := cmp.Or(fitBias(operation, db, dy), tensor.OnDevice(operation, tensor.Float32, db)); err != nil {
		return err
	}
	if _, err := tensor.Computing(operation, dy); err != nil || db.Len() == 0 {
		return err
	}
	channels, cells := db.Len(), dy.Len()/db.Len()
	sum, err := c.columns.Sum(c.device, operation, cells, channels, dy)
	if err != nil {
		return err
	}
	a := biasGradientArguments{
		db: tensor.At(db), dy: tensor.At(dy), partial: sum.Partial, tickets: sum.Tickets,
		cells: int64(cells), channels: int32(channels), accumulate: tensor.Flag(p.Accumulate), lanes: sum.Lanes,
	}
	return c.bias.biasGradient.Launch(c.device.Stream, dy.DType(), sum.Grid, sum.Block, a)
}

// maskBias masks a gradient at added, which may be dx itself, writes it to dx and sums it as ConvGradBias
// does. added and mask have the type of dx.
func (c *CUDA) maskBias(db, dx *tensor.Tensor, added cuda.Address, mask *tensor.Tensor, accumulate bool) error {
	channels, cells := db.Len(), dx.Len()/db.Len()
	sum, err := c.columns.Sum(c.device, "conv data and bias gradient", cells, channels, dx, mask)
	if err != nil {
		return err
	}
	a := maskBiasGradientArguments{
		db: tensor.At(db), dx: tensor.At(dx), dy: added, mask: tensor.At(mask), partial: sum.Partial, tickets: sum.Tickets,
		cells: int64(cells), channels: int32(channels), accumulate: tensor.Flag(accumulate), lanes: sum.Lanes,
	}
	return c.bias.maskBiasGradient.Launch(c.device.Stream, dx.DType(), sum.Grid, sum.Block, a)
}

// addBias finishes Conv if the convolution itself has neither bias nor ReLU. b is float32 or nil.
func (c *CUDA) addBias(y, b *tensor.Tensor, relu bool) error {
	grid, block := tensor.Spread(tensor.Ceil(y.Len(), 4), biasThreads), cuda.Dim3{X: biasThreads}
	a := addBiasArguments{y: tensor.At(y), bias: tensor.At(b), length: int64(y.Len()), channels: int32(y.Dim(3)),
		relu: tensor.Flag(relu)}
	return c.bias.addBias.Launch(c.device.Stream, y.DType(), grid, block, a)
}

// endGradient writes a gradient at added to d: masked, or added to the values of d. added and mask have the
// type of d.
func (c *CUDA) endGradient(d *tensor.Tensor, added cuda.Address, mask *tensor.Tensor, accumulate bool) error {
	grid, block := tensor.Spread(tensor.Ceil(d.Len(), 4), biasThreads), cuda.Dim3{X: biasThreads}
	a := endGradientArguments{dx: tensor.At(d), added: added, mask: tensor.At(mask), length: int64(d.Len()),
		accumulate: tensor.Flag(accumulate)}
	return c.bias.endGradient.Launch(c.device.Stream, d.DType(), grid, block, a)
}

// widen writes the bfloat16 numbers at from to a float32 tensor, or adds them.
func (c *CUDA) widen(to *tensor.Tensor, from cuda.Address, accumulate bool) error {
	return c.bias.fromBf16.Launch(c.device.Stream, tensor.Spread(tensor.Ceil(to.Len(), 4), biasThreads),
		cuda.Dim3{X: biasThreads},
		fromBf16Arguments{to: tensor.At(to), from: from, length: int64(to.Len()), accumulate: tensor.Flag(accumulate)})
}

// narrowed returns the address of a tensor in bfloat16. A float32 tensor is rounded into memory of this
// family.
func (c *CUDA) narrowed(t *tensor.Tensor) (cuda.Address, error) {
	if t.DType() == tensor.BFloat16 {
		return tensor.At(t), nil
	}
	to, err := c.operand.Reserve(c.device, t.Len()*tensor.BFloat16.Size())
	if err != nil {
		return 0, err
	}
	return to, c.bias.toBf16.Launch(c.device.Stream, tensor.Spread(tensor.Ceil(t.Len(), 8), biasThreads),
		cuda.Dim3{X: biasThreads},
		toBf16Arguments{to: to, from: tensor.At(t), length: int64(t.Len())})
}
