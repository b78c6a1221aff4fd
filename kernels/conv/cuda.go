//go:build cuda

package conv

import (
	"fmt"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card: the convolutions by cuDNN, what surrounds them by kernels of its
// own. It computes float32 in the precision of the device, TF32 or exactly, and, where input, filter and
// output are bfloat16, in bfloat16 with sums in float32; the gradient of the filter may be float32 there,
// and so may the bias. The plan of a shape
// is chosen by its first call. Tensors must be at multiples of 16 bytes, as Alloc gives them.
type CUDA struct {
	device *tensor.CUDA
	cudnn  *cudnn.Handle
	bias   biasKernels

	columns tensor.Columns   // of a bias gradient
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

// fit checks the shapes, types and places of a convolution, and that there is something to compute.
func (c *CUDA) fit(operation string, x, w, y *tensor.Tensor, p Params, mask *tensor.Tensor) (shape cudnn.Conv, err error) {
	g, err := Fit(operation, x, w, y, p)
	if err != nil {
		return shape, err
	}
	shape = cudnn.Conv{N: g.N, H: g.H, W: g.W, C: g.C, K: g.K, R: g.R, S: g.S, Pad: g.Pad}
	dtype, err := tensor.Computing(operation, x, y, mask)
	switch {
	case dtype == tensor.BFloat16:
		shape.Precision = cudnn.BFloat16
	case c.device.Precision() == tensor.TF32:
		shape.Precision = cudnn.TF32
	}
	switch {
	case err != nil:
		return shape, err
	case w.DType() != dtype && w.DType() != tensor.Float32: // a filter gradient may be float32
		return shape, fmt.Errorf("%s: input %s, filter %s: %w", operation, x, w, tensor.ErrShape)
	case x.Len() == 0 || w.Len() == 0:
		return shape, fmt.Errorf("%s: input %s, filter %s: nothing to compute: %w", operation, x, w, tensor.ErrShape)
	}
	return shape, placed(operation, x, w, y, mask)
}

// placed checks that tensors are in device memory as cuDNN needs them.
func placed(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if t != nil && (t.Address() == 0 || t.Address()%16 != 0) {
			return fmt.Errorf("%s: %s is at address %#x, not at a multiple of 16 in device memory: %w", operation, t, t.Address(), tensor.ErrShape)
		}
	}
	return nil
}

// sameType refuses a filter that is not of the type of the input.
func sameType(operation string, x, w *tensor.Tensor) error {
	if x.DType() != w.DType() {
		return fmt.Errorf("%s: input %s, filter %s: one type is needed: %w", operation, x, w, tensor.ErrShape)
	}
	return nil
}

// Conv implements Ops.
func (c *CUDA) Conv(y, x, w, b *tensor.Tensor, p Params) error {
	const operation = "conv"
	shape, err := c.fit(operation, x, w, y, p, nil)
	switch {
	case err != nil:
		return err
	case b != nil && (b.Rank() != 1 || b.Len() != shape.K || b.DType() != tensor.Float32 && b.DType() != y.DType()):
		return fmt.Errorf("%s: bias %s for output %s: %w", operation, b, y, tensor.ErrShape)
	}
	if err := sameType(operation, x, w); err != nil {
		return err
	}
	if err := placed(operation, b); err != nil {
		return err
	}
	o := cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y), Bias: tensor.At(b)}
	switch fused := b != nil && b.DType() == y.DType(); {
	case fused && p.ReLU:
		return c.cudnn.Run(cudnn.ForwardBiasReLU, shape, o)
	case fused:
		return c.cudnn.Run(cudnn.ForwardBias, shape, o)
	}
	if err := c.cudnn.Run(cudnn.Forward, shape, o); err != nil || b == nil && !p.ReLU {
		return err
	}
	return c.addBias(y, b, p.ReLU)
}

// ConvGradData implements Ops.
func (c *CUDA) ConvGradData(dx, dy, w, mask *tensor.Tensor, p Params) error {
	const operation = "conv data gradient"
	shape, err := c.fit(operation, dx, w, dy, p, mask)
	if err != nil {
		return err
	}
	if mask != nil && !tensor.SameShape(mask, dx) {
		return fmt.Errorf("%s: mask %s for gradient %s: %w", operation, mask, dx, tensor.ErrShape)
	}
	if err := sameType(operation, dx, w); err != nil {
		return err
	}
	inPlace := mask != nil && mask.Address() == dx.Address()
	return c.gradient(cudnn.DataGradient, shape, cudnn.Operands{W: tensor.At(w), Y: tensor.At(dy)}, dx, mask, p.Accumulate, inPlace)
}

// ConvGradFilter implements Ops.
func (c *CUDA) ConvGradFilter(dw, x, dy *tensor.Tensor, p Params) error {
	shape, err := c.fit("conv filter gradient", x, dw, dy, p, nil)
	if err != nil {
		return err
	}
	o := cudnn.Operands{X: tensor.At(x), Y: tensor.At(dy)}
	if x.DType() == dw.DType() {
		return c.gradient(cudnn.FilterGradient, shape, o, dw, nil, p.Accumulate, false)
	}
	// cuDNN rounds the sums, which are float32, to bfloat16.
	if o.W, err = c.scratch.Reserve(c.device, dw.Len()*tensor.BFloat16.Size()); err != nil {
		return err
	}
	if err := c.cudnn.Run(cudnn.FilterGradient, shape, o); err != nil {
		return err
	}
	return c.widenGradient(dw, o.W, p.Accumulate)
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
