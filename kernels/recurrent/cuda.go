//go:build cuda

package recurrent

import (
	"cmp"
	"math"

	"nmn/cuda"
	"nmn/kernels/product"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card in float32. Package product computes the products, in TF32 if the
// device multiplies in it, and kernels of this package the steps around them. The host does not read words:
// one beyond the vocabulary gives NaN. Tensors must be at multiples of 16 bytes, as from Alloc. The first
// call of a shape chooses its plan.
type CUDA struct {
	device   *tensor.CUDA
	multiply *product.Products
	lstm     lstmKernels
	table    embedKernels
	softmax  softmaxKernels

	products tensor.Workspace // of a step, or the logits of a block of words
	state    tensor.Workspace // a state at a multiple of 16 bytes
	carried  tensor.Workspace // gradients of the cells, on their way back
	kept     tensor.Workspace // rows with a target
	part     tensor.Workspace // contribution of a block of words to the rows
	columns  tensor.Columns   // of a bias gradient
	found    tensor.Workspace // of each row: sum, largest logit, logit of the target
}

var _ Ops = (*CUDA)(nil)

const threads = 256 // of a block

// NewCUDA makes the family on a graphics card with the kernels of a module and products on the same device's
// stream.
func NewCUDA(device *tensor.CUDA, module *cuda.Module, products *product.Products) (*CUDA, error) {
	c := &CUDA{device: device, multiply: products}
	return c, tensor.FindKernels("recurrent", module, &c.lstm, &c.table, &c.softmax)
}

// aligned returns the address of this number of bytes at a multiple of 16 bytes, in place or in a copy.
func (c *CUDA) aligned(at cuda.Address, bytes int) (cuda.Address, error) {
	if at%16 == 0 {
		return at, nil
	}
	to, err := c.state.Reserve(c.device, bytes)
	if err != nil {
		return 0, err
	}
	return to, c.device.Stream.Copy(to, at, bytes)
}

// placed checks that tensors are in device memory as cuDNN needs them. nil tensors are skipped.
func placed(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if t != nil && (t.Address()%16 != 0 || t.Len() > math.MaxInt32) {
			return tensor.Misfit(operation, "%s is at address %#x: want a multiple of 16, and less than 2^31 elements", t,
				t.Address())
		}
	}
	return tensor.OnDevice(operation, tensor.Float32, tensors...)
}

// offset returns the address a number of float32 after another; 0 stays 0.
func offset(at cuda.Address, elements int) cuda.Address {
	if at == 0 {
		return 0
	}
	return at + cuda.Address(4*elements)
}

func (c *CUDA) Add(dst, src *tensor.Tensor) error {
	if err := cmp.Or(FitAdd(dst, src), tensor.OnDevice("add", tensor.Float32, dst, src)); err != nil || dst.Len() == 0 {
		return err
	}
	return c.add(tensor.At(dst), tensor.At(src), dst.Len())
}

func (c *CUDA) add(dst, src cuda.Address, length int) error {
	return c.lstm.add.Launch(c.device.Stream, tensor.Spread(length, threads), cuda.Dim3{X: threads}, addArguments{dst: dst,
		src: src, length: int64(length)})
}
