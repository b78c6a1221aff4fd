//go:build cuda

package conv

import (
	"cmp"
	"errors"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

// CUDA implements Ops on a graphics card: cuDNN computes the convolutions, and kernels of this package the
// steps around them. It computes float32 in the precision of the device, TF32 or exactly. If input and filter
// are bfloat16, it computes in bfloat16 with sums in float32. The output, its gradient and the gradient of
// the filter may then be float32. Biases are float32. The first call of a shape chooses its plan. Tensors
// must be at multiples of 16 bytes, as from Alloc.
type CUDA struct {
	device     *tensor.CUDA
	cudnn      *cudnn.Handle
	bias       biasKernels
	first      firstKernels
	shortcut   shortcutKernels
	columnSums columnsKernels
	narrow     map[cudnn.Conv]bool // filter gradients that are rounded to bfloat16 before they are float32
	forms      map[question]form
	most       int // elements that a tensor of cuDNN may have

	columns  tensor.Columns   // of a bias gradient
	scratch  tensor.Workspace // a result before it is masked, added or widened
	operand  tensor.Workspace // a float32 operand, rounded to bfloat16
	unfolded tensor.Workspace // the columns of a data gradient or a forward pass
}

var _ Ops = (*CUDA)(nil)

// NewCUDA makes the family on a graphics card with the kernels of a module and cuDNN on the same
// device's stream.
func NewCUDA(device *tensor.CUDA, module *cuda.Module, library *cudnn.Handle) (*CUDA, error) {
	c := &CUDA{device: device, cudnn: library, narrow: map[cudnn.Conv]bool{}, forms: map[question]form{},
		most: mostElements}
	return c, tensor.FindKernels("conv", module, &c.bias, &c.first, &c.shortcut, &c.columnSums)
}

// fit checks the shapes, types and addresses of a convolution, and reports whether there is anything to
// compute. mask, which may be nil, has the type of x.
func (c *CUDA) fit(operation string, x, w, y *tensor.Tensor, p Params, mask *tensor.Tensor) (shape cudnn.Conv,
	err error) {
	g, err := Fit(operation, x, w, y, p)
	if err != nil {
		return shape, err
	}
	shape = shapeOf(g)
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
		return shape, tensor.Misfit(operation, "input %s, filter %s, output %s", x, w, y)
	case x.Len() == 0 || w.Len() == 0:
		return shape, tensor.Misfit(operation, "input %s, filter %s: nothing to compute", x, w)
	}
	return shape, placed(operation, x, w, y, mask)
}

// shapeOf is a geometry as cuDNN has it. If the window is as large as the input, as in fc6 of VGG16 over 7×7
// cells, the convolution is one of 1×1 over all numbers of a frame. The memory is the same, and cuDNN has more
// and faster engines for it.
func shapeOf(g Geometry) cudnn.Conv {
	if g.R == g.H && g.S == g.W && g.Pad == 0 {
		g.C, g.H, g.W, g.R, g.S, g.Stride = g.H*g.W*g.C, 1, 1, 1, 1, 1
	}
	shape := cudnn.Conv{N: g.N, H: g.H, W: g.W, C: g.C, K: g.K, R: g.R, S: g.S, Pad: g.Pad}
	if g.Stride > 1 {
		shape.Stride = g.Stride
	}
	return shape
}

// geometryOf is a convolution of cuDNN as the other devices have it.
func geometryOf(s cudnn.Conv) Geometry {
	return Geometry{N: s.N, H: s.H, W: s.W, C: s.C, K: s.K, R: s.R, S: s.S, P: s.P(), Q: s.Q(), Pad: s.Pad,
		Stride: max(1, s.Stride)}
}

// placed checks that tensors are in device memory as cuDNN needs them.
func placed(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if t != nil && (t.Address() == 0 || t.Address()%16 != 0) {
			return tensor.Misfit(operation, "%s is at address %#x, not at a multiple of 16 in device memory", t, t.Address())
		}
	}
	return nil
}

// sameType refuses a filter that is not of the type of the input.
func sameType(operation string, x, w *tensor.Tensor) error {
	if x.DType() != w.DType() {
		return tensor.Misfit(operation, "input %s, filter %s: one type is needed", x, w)
	}
	return nil
}

func (c *CUDA) Conv(y, x, w, b *tensor.Tensor, p Params) error {
	const operation = "conv"
	shape, err := c.fit(operation, x, w, y, p, nil)
	switch {
	case err != nil:
		return err
	case b != nil && (b.Rank() != 1 || b.Len() != shape.K || b.DType() != tensor.Float32):
		return tensor.Misfit(operation, "bias %s for output %s", b, y)
	}
	if err := sameType(operation, x, w); err != nil {
		return err
	}
	if r := p.RoundedBias; r != nil && (b == nil || r.DType() != tensor.BFloat16 || !tensor.SameShape(r, b)) {
		return tensor.Misfit(operation, "bias %s, rounded %s", b, r)
	}
	if err := placed(operation, b, p.RoundedBias); err != nil {
		return err
	}
	shape.Wide = x.DType() != y.DType()
	frames, err := c.frames(shape)
	switch {
	case err != nil:
		return err
	case frames == shape.N:
		return c.forward(shape, y, x, w, b, p)
	}
	return c.eachPart(shape, frames, func(part cudnn.Conv, _ bool, v []*tensor.Tensor) error {
		return c.forward(part, v[0], v[1], w, b, p)
	}, y, x)
}

// forward computes y from the number of frames that cuDNN takes at once.
func (c *CUDA) forward(shape cudnn.Conv, y, x, w, b *tensor.Tensor, p Params) error {
	relu := p.ReLU
	pass := forwardPass(b != nil, relu)
	o := cudnn.Operands{X: tensor.At(x), W: tensor.At(w), Y: tensor.At(y), Bias: tensor.At(b)}
	if shape.Precision == cudnn.BFloat16 && b != nil && !shape.Wide {
		return c.biased(pass, shape, o, y, x, b, p)
	}
	switch err := c.cudnn.Run(pass, shape, o); {
	case shape.Precision == cudnn.BFloat16 && errors.Is(err, cudnn.ErrUnsupported):
		return c.apart(y, b, shape, o, relu)
	case err != nil || b != nil || !relu:
		return err
	}
	return c.addBias(y, nil, true)
}

// forwardPass returns the pass that adds a bias, and clamps at 0, if requested. Without a bias another kernel
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

// biased computes y in bfloat16 with a bias in the fastest form. cuDNN may add the float32 bias. It may add
// the bias rounded to bfloat16, for which it has more and other plans, also of a product of columns. A kernel of
// this package may add it to cuDNN's output. Or such a kernel computes all, if the convolution is like the first of a
// net.
func (c *CUDA) biased(pass cudnn.Pass, shape cudnn.Conv, o cudnn.Operands, y, x, b *tensor.Tensor, p Params) error {
	narrow := shape
	narrow.NarrowBias = true
	withRounded := func() (err error) {
		n := o
		if n.Bias, err = c.narrowed(cmp.Or(p.RoundedBias, b)); err != nil {
			return err
		}
		return c.cudnn.Run(pass, narrow, n)
	}
	q := question{pass: pass, conv: shape}
	f, known := c.forms[q]
	if !known {
		rounding := 6 * b.Len()
		if p.RoundedBias != nil {
			rounding = 0
		}
		c.includeUnfolded(pass, narrow)
		options := []option{
			{together, pass, shape, 0, func() error { return c.cudnn.Run(pass, shape, o) }},
			{rounded, pass, narrow, rounding, withRounded},
			{apart, cudnn.Forward, shape, 2 * y.Bytes(), func() error { return c.cudnn.Run(cudnn.Forward, shape, o) }},
		}
		if geometryOf(shape).likeFirst() {
			options = append(options, option{form: own, bytes: x.Bytes() + y.Bytes()})
		}
		var err error
		if f, err = c.fastest(options...); err != nil {
			return err
		}
		c.forms[q] = f
	}
	switch f {
	case rounded:
		return withRounded()
	case apart:
		return c.apart(y, b, shape, o, p.ReLU)
	case own:
		return c.firstConv(shape, o, p.ReLU)
	}
	return c.cudnn.Run(pass, shape, o)
}

// apart computes y in bfloat16 by separate passes if cuDNN has no plan for all at once: the products,
// rounded, then a pass that widens them and adds bias and ReLU.
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
