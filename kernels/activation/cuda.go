//go:build cuda

package activation

import (
	"cmp"
	"math"

	"nmn/cuda"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card in float32, or in bfloat16 if all tensors are bfloat16.
type CUDA struct {
	device  *tensor.CUDA
	dropout dropoutKernels
}

var _ Ops = (*CUDA)(nil)

const (
	threads = 256
	batch   = 2 // groups of 16 bytes that a thread loads at once
)

// grid covers count elements of a tensor, or of each of its rows.
func grid(t *tensor.Tensor, count int) cuda.Dim3 {
	return tensor.Cover(tensor.Ceil(count*t.DType().Size(), 16), threads, batch)
}

// NewCUDA makes the family on a graphics card with the kernels of a module.
func NewCUDA(device *tensor.CUDA, module *cuda.Module) (*CUDA, error) {
	c := &CUDA{device: device}
	return c, tensor.FindKernels("activation", module, &c.dropout)
}

func (c *CUDA) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	return c.drop("dropout", y, x, keys, seed, rate)
}

func (c *CUDA) DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error {
	return c.drop("gradient of dropout", dx, dy, keys, seed, rate)
}

// drop is both: the mask depends on neither values nor gradients.
func (c *CUDA) drop(operation string, out, in, keys, seed *tensor.Tensor, rate float32) error {
	row, err := fitDropout(operation, out, in, keys, seed, rate)
	if err != nil {
		return err
	}
	dtype, err := tensor.Computing(operation, out, in)
	if err := cmp.Or(err, tensor.OnDevice(operation, tensor.Int32, keys, seed)); err != nil {
		return err
	}
	if row > math.MaxInt32-3 || keys.Len() > math.MaxInt32 {
		return tensor.Misfit(operation, "%d rows of %d elements are more than a launch can have", keys.Len(), row)
	}
	grid := grid(in, row)
	grid.Y = min(keys.Len(), 65535)
	a := dropoutArguments{
		y: tensor.At(out), x: tensor.At(in), keys: tensor.At(keys), seed: tensor.At(seed), rows: int32(keys.Len()),
		row:       int32(row),
		threshold: uint32(float64(rate) * (1 << 32)), scale: float32(1 / (1 - float64(rate))),
	}
	return c.dropout.dropout.Launch(c.device.Stream, dtype, grid, cuda.Dim3{X: threads}, a)
}
