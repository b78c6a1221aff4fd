//go:build cuda

package pool

import (
	"cmp"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card in float32, except MaxPool3GradBias, which also needs another
// family: package kernels joins them. It computes maxima and their gradients in bfloat16 if all tensors are
// bfloat16, and pools bags with maps in bfloat16 and vectors in float32. Frame offsets are not checked: those
// beyond the batch are cut to it, and an empty bag gives NaN or negative infinity.
type CUDA struct {
	device  *tensor.CUDA
	window  windowKernels
	overlap overlapKernels
	bag     bagKernels

	columns tensor.Columns   // of a bias gradient
	partial tensor.Workspace // float64 for each part of a bag and channel
	tickets tensor.Workspace // uint32 for each tile of channels of a bag, 0 between launches
}

// NewCUDA makes the family on a graphics card with the kernels of a module.
func NewCUDA(device *tensor.CUDA, module *cuda.Module) (*CUDA, error) {
	c := &CUDA{device: device}
	return c, tensor.FindKernels("pool", module, &c.window, &c.overlap, &c.bag)
}

// indexed checks that the kernels can index the maps.
func (g Geometry) indexed(operation string) error {
	const most = 1<<31 - 1
	if g.W*g.C > most || g.T > most || g.H > most {
		return tensor.Misfit(operation, "maps %d×%d×%d×%d are more than a launch can have", g.T, g.H, g.W, g.C)
	}
	return nil
}

// shape is a block for each row of windows, and threads for its windows and groups of channels.
func (g Geometry) shape() (grid, block cuda.Dim3) {
	const most = 1 << 20 // blocks; further rows are taken in turn
	groups := g.C
	if g.C%4 == 0 {
		groups = g.C / 4
	}
	rows, columns := (g.H+1)/2, (g.W+1)/2
	return cuda.Dim3{X: max(1, min(g.T*rows, most))}, cuda.Dim3{X: tensor.PowerOfTwo(columns*groups, 32, 256)}
}

func (c *CUDA) MaxPool(y, x *tensor.Tensor) error {
	const operation = "max pooling"
	g, err := fitMax(operation, y, x)
	if err != nil {
		return err
	}
	dtype, err := tensor.Computing(operation, y, x)
	if err := cmp.Or(err, g.indexed(operation)); err != nil || x.Len() == 0 {
		return err
	}
	grid, block := g.shape()
	a := maxPoolArguments{
		y: tensor.At(y), x: tensor.At(x), frames: int32(g.T), height: int32(g.H), width: int32(g.W), channels: int32(g.C),
	}
	return c.window.maxPool.Launch(c.device.Stream, dtype, grid, block, a)
}

func (c *CUDA) MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error {
	const operation = "gradient of max pooling"
	g, err := FitMaxGrad(operation, dx, dy, x, y)
	if err != nil {
		return err
	}
	dtype, err := tensor.Computing(operation, dx, dy, x, y)
	if err := cmp.Or(err, g.indexed(operation)); err != nil || x.Len() == 0 {
		return err
	}
	grid, block := g.shape()
	a := maxPoolGradientArguments{
		dx: tensor.At(dx), dy: tensor.At(dy), x: tensor.At(x), y: tensor.At(y),
		frames: int32(g.T), height: int32(g.H), width: int32(g.W), channels: int32(g.C), relu: tensor.Flag(relu),
	}
	return c.window.maxPoolGradient.Launch(c.device.Stream, dtype, grid, block, a)
}

// MaxPoolGradBias implements Ops in one pass over the maps. It sums the gradients of the windows, 32 of them
// in float32, then in float64, in an order that shapes alone decide.
func (c *CUDA) MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p MaxGradParams) error {
	const operation = "gradient of max pooling and bias"
	g, err := FitMaxGrad(operation, dx, dy, x, y)
	if err := cmp.Or(err, g.FitChannels(operation, db), tensor.OnDevice(operation, tensor.Float32, db)); err != nil {
		return err
	}
	dtype, err := tensor.Computing(operation, dx, dy, x, y)
	if err := cmp.Or(err, g.indexed(operation)); err != nil || g.C == 0 {
		return err
	}
	sum, err := c.columns.Sum(c.device, operation, g.T*g.P*g.Q, g.C, dx, dy, x, y)
	if err != nil {
		return err
	}
	a := maxPoolGradientBiasArguments{
		dx: tensor.At(dx), db: tensor.At(db), dy: tensor.At(dy), x: tensor.At(x), y: tensor.At(y), partial: sum.Partial,
		tickets: sum.Tickets,
		frames:  int32(g.T), height: int32(g.H), width: int32(g.W), channels: int32(g.C),
		relu: tensor.Flag(p.ReLU), accumulate: tensor.Flag(p.Accumulate), lanes: sum.Lanes,
	}
	return c.window.maxPoolGradientBias.Launch(c.device.Stream, dtype, sum.Grid, sum.Block, a)
}
