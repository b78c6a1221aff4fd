//go:build cuda

package conv

import (
	"errors"
	"fmt"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card: the convolutions by cuDNN, what surrounds them by kernels of its
// own. It computes float32 in the precision of the device, TF32 or exactly, and, where input and filter
// are bfloat16, in bfloat16 with sums in float32; the output and its gradient may then be float32, and the
// gradient of the filter may. Biases are float32. The plan of a shape is chosen by its first call. Tensors
// must be at multiples of 16 bytes, as Alloc gives them.
type CUDA struct {
	device *tensor.CUDA
	cudnn  *cudnn.Handle
	bias   biasKernels
	narrow map[cudnn.Conv]bool // filter gradients that are rounded to bfloat16 before they are float32

	columns tensor.Columns   // of a bias gradient
	scratch tensor.Workspace // a result before it is masked, added or widened
	operand tensor.Workspace // a float32 operand, rounded to bfloat16
}

var _ Ops = (*CUDA)(nil)

// NewCUDA makes the family on a graphics card with the kernels of a module and cuDNN on the same
// device's stream.
func NewCUDA(device *tensor.CUDA, module *cuda.Module, library *cudnn.Handle) (*CUDA, error) {
	c := &CUDA{device: device, cudnn: library, narrow: map[cudnn.Conv]bool{}}
	if err := c.bias.load(module); err != nil {
		return nil, fmt.Errorf("conv: %w", err)
	}
	return c, nil
}

// fit checks the shapes, types and places of a convolution, and that there is something to compute. mask,
// which may be nil, is of the type of x.
func (c *CUDA) fit(operation string, x, w, y *tensor.Tensor, p Params, mask *tensor.Tensor) (shape cudnn.Conv, err error) {
	g, err := Fit(operation, x, w, y, p)
	if err != nil {
		return shape, err
	}
	shape = cudnn.Conv{N: g.N, H: g.H, W: g.W, C: g.C, K: g.K, R: g.R, S: g.S, Pad: g.Pad}
	dtype, err := tensor.Computing(operation, x, mask)
	switch {
	case dtype == tensor.BFloat16:
		shape.Precision = cudnn.BFloat16
	case c.device.Precision() == tensor.TF32:
		shape.Precision = cudnn.TF32
	}
	fits := func(t *tensor.Tensor) bool { return t.DType() == dtype || t.DType() == tensor.Float32 }
	switch {
	case err != nil:
		return shape, err
	case !fits(w) || !fits(y):
		return shape, fmt.Errorf("%s: input %s, filter %s, output %s: %w", operation, x, w, y, tensor.ErrShape)
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
	case b != nil && (b.Rank() != 1 || b.Len() != shape.K || b.DType() != tensor.Float32):
		return fmt.Errorf("%s: bias %s for output %s: %w", operation, b, y, tensor.ErrShape)
	}
	if err := sameType(operation, x, w); err != nil {
		return err
	}
	if err := placed(operation, b); err != nil {
		return err
	}
	shape.Wide = x.DType() != y.DType()
	pass := forwardPass(b != nil, p.ReLU)
	o := cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y), Bias: tensor.At(b)}
	switch err := c.cudnn.Run(pass, shape, o); {
	case shape.Precision == cudnn.BFloat16 && errors.Is(err, cudnn.ErrUnsupported):
		return c.apart(y, b, shape, o, p.ReLU)
	case err != nil || b != nil || !p.ReLU:
		return err
	}
	return c.addBias(y, nil, true)
}

// forwardPass is the pass that adds a bias, and clamps at 0, where that is asked for; without a bias another kernel
// clamps.
func forwardPass(bias, relu bool) cudnn.Pass {
	switch {
	case bias && relu:
		return cudnn.ForwardBiasReLU
	case bias:
		return cudnn.ForwardBias
	}
	return cudnn.Forward
}

// apart computes y in bfloat16 by passes of their own where cuDNN has no plan for all at once: the
// products, rounded, then what widens them, bias and ReLU.
func (c *CUDA) apart(y, b *tensor.Tensor, shape cudnn.Conv, o cudnn.Operands, relu bool) error {
	wide := shape.Wide
	shape.Wide = false
	var err error
	if wide {
		if o.Y, err = c.scratch.Reserve(c.device, y.Len()*tensor.BFloat16.Size()); err != nil {
			return err
		}
	}
	if err := c.cudnn.Run(cudnn.Forward, shape, o); err != nil {
		return err
	}
	if wide {
		if err := c.widen(y, o.Y, false); err != nil {
			return err
		}
	}
	if b == nil && !relu {
		return nil
	}
	return c.addBias(y, b, relu)
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
	o := cudnn.Operands{W: tensor.At(w)}
	if o.Y, err = c.upstream(shape, dy); err != nil {
		return err
	}
	inPlace := mask != nil && mask.Address() == dx.Address()
	return c.gradient(cudnn.DataGradient, shape, o, dx, mask, p.Accumulate, inPlace)
}

// upstream is where the gradient of the output stands in the type of the other operands.
func (c *CUDA) upstream(shape cudnn.Conv, dy *tensor.Tensor) (cuda.Address, error) {
	if shape.Precision == cudnn.BFloat16 {
		return c.narrowed(dy)
	}
	return tensor.At(dy), nil
}

// ConvGradFilter implements Ops.
func (c *CUDA) ConvGradFilter(dw, x, dy *tensor.Tensor, p Params) error {
	shape, err := c.fit("conv filter gradient", x, dw, dy, p, nil)
	if err != nil {
		return err
	}
	o := cudnn.Operands{X: tensor.At(x)}
	if o.Y, err = c.upstream(shape, dy); err != nil {
		return err
	}
	shape.Wide = x.DType() != dw.DType()
	if _, known := c.narrow[shape]; shape.Wide && !known {
		if err := c.compareFilters(shape, o, dw, p.Accumulate); err != nil {
			return err
		}
	}
	if !c.narrow[shape] {
		return c.gradient(cudnn.FilterGradient, shape, o, dw, nil, p.Accumulate, false)
	}
	shape.Wide = false
	if o.W, err = c.scratch.Reserve(c.device, dw.Len()*tensor.BFloat16.Size()); err != nil {
		return err
	}
	if err := c.cudnn.Run(cudnn.FilterGradient, shape, o); err != nil {
		return err
	}
	return c.widen(dw, o.W, p.Accumulate)
}

// compareFilters decides for a shape whether its filter gradient is written in float32 from bfloat16
// operands. That saves a rounding, but cuDNN has few engines for it, and none where channels are no
// multiple of 8: one that takes longer than slower times that which rounds to bfloat16 is left alone. Both
// are tried in the memory of dw, which the gradient overwrites, unless it holds what is added to.
func (c *CUDA) compareFilters(wide cudnn.Conv, o cudnn.Operands, dw *tensor.Tensor, held bool) error {
	const slower = 1.1
	o.W = tensor.At(dw)
	if held {
		var err error
		if o.W, err = c.scratch.Reserve(c.device, dw.Bytes()); err != nil {
			return err
		}
	}
	rounded := wide
	rounded.Wide = false
	err := c.cudnn.Run(cudnn.FilterGradient, wide, o)
	if err != nil && !errors.Is(err, cudnn.ErrUnsupported) {
		return err
	}
	otherErr := c.cudnn.Run(cudnn.FilterGradient, rounded, o)
	if otherErr != nil && (err != nil || !errors.Is(otherErr, cudnn.ErrUnsupported)) {
		return otherErr
	}
	first, possible := c.cudnn.Chosen(cudnn.FilterGradient, wide)
	second, otherwise := c.cudnn.Chosen(cudnn.FilterGradient, rounded)
	c.narrow[wide] = !possible || otherwise && first.Microseconds > slower*second.Microseconds
	return nil
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
