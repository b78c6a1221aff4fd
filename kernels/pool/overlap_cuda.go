//go:build cuda

package pool

import (
	"cmp"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

func (c *CUDA) MaxPool3(y, x *tensor.Tensor) error {
	const operation = "3×3 max pooling"
	g, err := fitMax(operation, y, x)
	if err != nil {
		return err
	}
	dtype, err := tensor.Computing(operation, y, x)
	if err := cmp.Or(err, g.indexed(operation)); err != nil || x.Len() == 0 {
		return err
	}
	grid, block := g.shape()
	a := maxPool3Arguments{
		y: tensor.At(y), x: tensor.At(x), frames: int32(g.T), height: int32(g.H), width: int32(g.W), channels: int32(g.C),
	}
	return c.overlap.maxPool3.Launch(c.device.Stream, dtype, grid, block, a)
}

// elements is a block for each row of elements, as shape has it for rows of windows.
func (g Geometry) elements() (grid, block cuda.Dim3) {
	return Geometry{T: g.T, H: 2 * g.H, W: 2 * g.W, C: g.C}.shape()
}

func (c *CUDA) MaxPool3Grad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	const operation = "gradient of 3×3 max pooling"
	g, err := FitMaxGrad(operation, dx, dy, x, y)
	if err != nil {
		return err
	}
	dtype, err := tensor.Computing(operation, dx, dy, x, y)
	if err := cmp.Or(err, g.indexed(operation)); err != nil || x.Len() == 0 {
		return err
	}
	grid, block := g.elements()
	a := maxPool3GradientArguments{
		dx: tensor.At(dx), dy: tensor.At(dy), x: tensor.At(x), y: tensor.At(y),
		frames: int32(g.T), height: int32(g.H), width: int32(g.W), channels: int32(g.C), relu: tensor.Flag(relu),
	}
	return c.overlap.maxPool3Gradient.Launch(c.device.Stream, dtype, grid, block, a)
}
