//go:build cuda

package conv

import (
	"cmp"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// ConvAdd implements Ops: cuDNN computes the products, and a kernel of this package adds bias and shortcut.
// All maps must have one type.
func (c *CUDA) ConvAdd(y, x, w, b, shortcut *tensor.Tensor, p Params) error {
	const operation = "conv and shortcut"
	shape, err := c.fit(operation, x, w, y, p, nil)
	switch {
	case err != nil:
		return err
	case y.DType() != x.DType():
		return tensor.Misfit(operation, "input %s, output %s: one type is needed", x, y)
	case b != nil && (b.Rank() != 1 || b.Len() != shape.K || b.DType() != tensor.Float32):
		return tensor.Misfit(operation, "bias %s for output %s", b, y)
	}
	if err := fitShortcut(operation, shortcut, y); err != nil {
		return err
	}
	if err := cmp.Or(sameType(operation, x, w), placed(operation, b, shortcut)); err != nil {
		return err
	}
	frames, err := c.frames(shape)
	switch {
	case err != nil:
		return err
	case frames == shape.N:
		return c.forwardAdd(shape, y, x, w, b, shortcut, p.ReLU)
	}
	return c.eachPart(shape, frames, func(part cudnn.Conv, _ bool, v []*tensor.Tensor) error {
		return c.forwardAdd(part, v[0], v[1], w, b, v[2], p.ReLU)
	}, y, x, shortcut)
}

// forwardAdd computes y from the number of frames that cuDNN takes at once.
func (c *CUDA) forwardAdd(shape cudnn.Conv, y, x, w, b, shortcut *tensor.Tensor, relu bool) (err error) {
	o := cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y)}
	if shortcut.Address() == y.Address() {
		if o.Y, err = c.scratch.Reserve(c.device, y.Bytes()); err != nil {
			return err
		}
	}
	if err := c.cudnn.Run(cudnn.Forward, shape, o); err != nil {
		return err
	}
	grid, block := tensor.Spread(tensor.Ceil(y.Len(), 4), biasThreads), cuda.Dim3{X: biasThreads}
	a := addShortcutArguments{
		y: tensor.At(y), sums: o.Y, bias: tensor.At(b), other: tensor.At(shortcut),
		length: int64(y.Len()), channels: int32(y.Dim(3)), relu: tensor.Flag(relu),
	}
	return c.shortcut.addShortcut.Launch(c.device.Stream, y.DType(), grid, block, a)
}
