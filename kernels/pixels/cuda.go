//go:build cuda

package pixels

import (
	"nmn/cuda"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card, to float32 or bfloat16. Sizes beyond the canvas are cut to it.
type CUDA struct {
	device    *tensor.CUDA
	normalize normalizeKernels
}

var _ Ops = (*CUDA)(nil)

// NewCUDA makes the family on a graphics card with the kernels of a module.
func NewCUDA(device *tensor.CUDA, module *cuda.Module) (*CUDA, error) {
	c := &CUDA{device: device}
	return c, tensor.FindKernels("pixels", module, &c.normalize)
}

// maxElements is the maximum of elements that one launch writes: its indices have 32 bits.
const maxElements = 1 << 31

// Normalize implements Ops. Batches beyond maxElements take several launches.
func (c *CUDA) Normalize(x, pixels, sizes, flips *tensor.Tensor, p Params) error {
	const operation = "normalize"
	g, err := Fit(x, pixels, sizes, flips, p)
	if err != nil {
		return err
	}
	_, err = tensor.Computing(operation, x)
	for _, check := range []error{
		err, tensor.OnDevice(operation, tensor.Uint8, pixels, flips),
		tensor.OnDevice(operation, tensor.Int32, sizes),
	} {
		if check != nil {
			return check
		}
	}
	frame := g.H * g.W * g.C
	if frame > maxElements {
		return tensor.Misfit(operation, "a frame of %d elements is more than a launch can have", frame)
	}
	if x.Len() == 0 {
		return nil
	}
	for first, step := 0, maxElements/frame; first < g.T; first += step {
		if err := c.launch(g, first, min(step, g.T-first), x, pixels, sizes, flips, p); err != nil {
			return err
		}
	}
	return nil
}

// launch normalises some frames.
func (c *CUDA) launch(g geometry, first, frames int, x, pixels, sizes, flips *tensor.Tensor, p Params) error {
	const threads, batch = 256, 2 // a thread reads the pixels of two groups of 16 bytes at once
	length := frames * g.H * g.W * g.C
	a := normalizeArguments{
		x: tensor.At(x) + cuda.Address(x.DType().Size()*first*g.H*g.W*g.C), pixels: tensor.At(pixels) +
			cuda.Address(3*first*g.H*g.W),
		length: uint32(length), height: uint32(g.H), width: uint32(g.W), channels: uint32(g.C),
		mean0: p.Mean[0], mean1: p.Mean[1], mean2: p.Mean[2], scale0: p.Scale[0], scale1: p.Scale[1], scale2: p.Scale[2],
	}
	if sizes != nil {
		a.sizes = tensor.At(sizes) + cuda.Address(8*first)
	}
	if flips != nil {
		a.flips = tensor.At(flips) + cuda.Address(first)
	}
	grid, block := tensor.Cover(tensor.Ceil(length*x.DType().Size(), 16), threads, batch), cuda.Dim3{X: threads}
	return c.normalize.normalize.Launch(c.device.Stream, x.DType(), grid, block, a)
}
