//go:build cuda

package conv

import (
	"fmt"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card in float32: the convolutions by cuDNN, what surrounds them by
// kernels of its own. The plan of a shape is chosen by its first call. Tensors must be at multiples of
// 16 bytes, as Alloc gives them.
type CUDA struct {
	device *tensor.CUDA
	cudnn  *cudnn.Handle
	bias   biasKernels

	partial tensor.Workspace // float64 sums of the parts of a bias gradient
	tickets tensor.Workspace // uint32 for each tile of its channels, 0 between launches
	scratch tensor.Workspace // a gradient before it is masked or added
}

var _ Ops = (*CUDA)(nil)

// NewCUDA makes the family on a graphics card with the kernels of a module and cuDNN on the same
// device's stream.
func NewCUDA(device *tensor.CUDA, module *cuda.Module, library *cudnn.Handle) (*CUDA, error) {
	c := &CUDA{device: device, cudnn: library}
	if err := c.bias.load(module); err != nil {
		return nil, fmt.Errorf("conv: %w", err)
	}
	return c, nil
}

// fit checks the shapes and places of a convolution, and tells whether there is anything to compute.
func fit(operation string, x, w, y *tensor.Tensor, p Params, others ...*tensor.Tensor) (shape cudnn.Conv, some bool, err error) {
	g, err := Fit(operation, x, w, y, p)
	if err != nil {
		return shape, false, err
	}
	all := append([]*tensor.Tensor{x, w, y}, others...)
	if err := tensor.OnDevice(operation, tensor.Float32, all...); err != nil {
		return shape, false, err
	}
	for _, t := range all {
		if t != nil && t.Address()%16 != 0 {
			return shape, false, fmt.Errorf("%s: %s is at address %#x, no multiple of 16: %w", operation, t, t.Address(), tensor.ErrShape)
		}
	}
	shape = cudnn.Conv{N: g.N, H: g.H, W: g.W, C: g.C, K: g.K, R: g.R, S: g.S, Pad: g.Pad, Precision: cudnn.Float32}
	return shape, x.Len() > 0 && w.Len() > 0, nil
}

// empty is the error for sums of nothing, which no net has.
func empty(operation string, x, w *tensor.Tensor) error {
	return fmt.Errorf("%s: input %s, filter %s: nothing to compute: %w", operation, x, w, tensor.ErrShape)
}

// Conv implements Ops.
func (c *CUDA) Conv(y, x, w, b *tensor.Tensor, p Params) error {
	const operation = "conv"
	shape, some, err := fit(operation, x, w, y, p, b)
	switch {
	case err != nil:
		return err
	case b != nil && (b.Rank() != 1 || b.Len() != shape.K):
		return fmt.Errorf("%s: bias %s for %d output channels: %w", operation, b, shape.K, tensor.ErrShape)
	case !some:
		return empty(operation, x, w)
	}
	o := cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y), Bias: tensor.At(b)}
	switch {
	case b != nil && p.ReLU:
		return c.cudnn.Run(cudnn.ForwardBiasReLU, shape, o)
	case b != nil:
		return c.cudnn.Run(cudnn.ForwardBias, shape, o)
	}
	if err := c.cudnn.Run(cudnn.Forward, shape, o); err != nil || !p.ReLU {
		return err
	}
	return c.addBias(y, nil, true)
}

// ConvGradData implements Ops.
func (c *CUDA) ConvGradData(dx, dy, w, mask *tensor.Tensor, p Params) error {
	const operation = "conv data gradient"
	shape, some, err := fit(operation, dx, w, dy, p, mask)
	switch {
	case err != nil:
		return err
	case mask != nil && !tensor.SameShape(mask, dx):
		return fmt.Errorf("%s: mask %s for gradient %s: %w", operation, mask, dx, tensor.ErrShape)
	case !some:
		return empty(operation, dx, w)
	}
	inPlace := mask != nil && mask.Address() == dx.Address()
	return c.gradient(cudnn.DataGradient, shape, cudnn.Operands{W: tensor.At(w), Y: tensor.At(dy)}, dx, mask, p.Accumulate, inPlace)
}

// ConvGradFilter implements Ops.
func (c *CUDA) ConvGradFilter(dw, x, dy *tensor.Tensor, p Params) error {
	const operation = "conv filter gradient"
	shape, some, err := fit(operation, x, dw, dy, p)
	switch {
	case err != nil:
		return err
	case !some:
		return empty(operation, x, dw)
	}
	return c.gradient(cudnn.FilterGradient, shape, cudnn.Operands{X: tensor.At(x), Y: tensor.At(dy)}, dw, nil, p.Accumulate, false)
}

// gradient computes a gradient into d. It takes the way over scratch memory where d holds what is still
// needed: what is added to, or the mask.
func (c *CUDA) gradient(pass cudnn.Pass, shape cudnn.Conv, o cudnn.Operands, d, mask *tensor.Tensor, accumulate, inPlace bool) error {
	to := tensor.At(d)
	if accumulate || inPlace {
		var err error
		if to, err = c.scratch.Reserve(c.device, d.Bytes()); err != nil {
			return err
		}
	}
	if pass == cudnn.DataGradient {
		o.X = to
	} else {
		o.W = to
	}
	if err := c.cudnn.Run(pass, shape, o); err != nil || mask == nil && !accumulate {
		return err
	}
	return c.endGradient(d, to, mask, accumulate)
}
