//go:build cuda

package conv

import (
	"cmp"
	"errors"

	"nmn/cuda"
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

func (c *CUDA) ConvGradData(dx, dy, w, mask *tensor.Tensor, p Params) error {
	return c.gradData("conv data gradient", dx, nil, dy, w, mask, p)
}

func (c *CUDA) ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p Params) error {
	const operation = "conv data and bias gradient"
	if err := cmp.Or(fitBias(operation, db, dx), tensor.OnDevice(operation, tensor.Float32, db)); err != nil {
		return err
	}
	return c.gradData(operation, dx, db, dy, w, mask, p)
}

// gradData computes dx and, unless it is nil, db. Accumulate applies to db if there is one, else to dx.
func (c *CUDA) gradData(operation string, dx, db, dy, w, mask *tensor.Tensor, p Params) error {
	shape, err := c.fit(operation, dx, w, dy, p, mask)
	if err != nil {
		return err
	}
	if mask != nil && !tensor.SameShape(mask, dx) {
		return tensor.Misfit(operation, "mask %s for gradient %s", mask, dx)
	}
	if err := sameType(operation, dx, w); err != nil {
		return err
	}
	frames, err := c.frames(shape)
	switch {
	case err != nil:
		return err
	case frames == shape.N:
		return c.dataGradient(shape, dx, db, dy, w, mask, p.Accumulate)
	}
	return c.eachPart(shape, frames, func(part cudnn.Conv, first bool, v []*tensor.Tensor) error {
		return c.dataGradient(part, v[0], db, v[1], w, v[2], p.Accumulate || db != nil && !first)
	}, dx, dy, mask)
}

// dataGradient computes dx and db from the number of frames that cuDNN takes at once.
func (c *CUDA) dataGradient(shape cudnn.Conv, dx, db, dy, w, mask *tensor.Tensor, accumulate bool) (err error) {
	o := cudnn.Operands{X: tensor.At(dx), W: tensor.At(w), Mask: tensor.At(mask)}
	if o.Y, err = c.upstream(shape, dy); err != nil {
		return err
	}
	inPlace := mask != nil && mask.Address() == dx.Address()
	_, columns := c.columnsOf(shape)
	if mask != nil && !inPlace && !columns && (db != nil || !accumulate) && shape.Precision != cudnn.Float32 {
		f, err := c.maskedForm(shape, o, dx, db != nil)
		if err != nil {
			return err
		}
		if f == together {
			if err := c.cudnn.Run(cudnn.MaskedDataGradient, shape, o); err != nil || db == nil {
				return err
			}
			return c.ConvGradBias(db, dx, Params{Accumulate: accumulate})
		}
	}
	if db == nil {
		return c.gradient(cudnn.DataGradient, shape, o, dx, mask, accumulate, inPlace)
	}
	if inPlace {
		if o.X, err = c.scratch.Reserve(c.device, dx.Bytes()); err != nil {
			return err
		}
	}
	if err := c.runDataGradient(shape, o); err != nil {
		return err
	}
	if mask == nil {
		return c.ConvGradBias(db, dx, Params{Accumulate: accumulate})
	}
	return c.maskBias(db, dx, o.X, mask, accumulate)
}

// maskedForm chooses whether cuDNN masks a data gradient or a kernel of this package, which then sums the
// bias gradient in the same pass. The results are equal: both mask values that are rounded once.
func (c *CUDA) maskedForm(shape cudnn.Conv, o cudnn.Operands, dx *tensor.Tensor, bias bool) (form, error) {
	q := question{cudnn.MaskedDataGradient, shape, bias}
	if f, known := c.forms[q]; known {
		return f, nil
	}
	run := func(pass cudnn.Pass) func() error { return func() error { return c.cudnn.Run(pass, shape, o) } }
	behind := 0
	if bias {
		behind = dx.Bytes()
	}
	f, err := c.fastest(
		option{together, cudnn.MaskedDataGradient, shape, behind, run(cudnn.MaskedDataGradient)},
		option{apart, cudnn.DataGradient, shape, 3 * dx.Bytes(), run(cudnn.DataGradient)},
	)
	if err == nil {
		c.forms[q] = f
	}
	return f, err
}

// upstream returns the address of the output's gradient in the type of the other operands.
func (c *CUDA) upstream(shape cudnn.Conv, dy *tensor.Tensor) (cuda.Address, error) {
	if shape.Precision == cudnn.BFloat16 {
		return c.narrowed(dy)
	}
	return tensor.At(dy), nil
}

func (c *CUDA) ConvGradFilter(dw, x, dy *tensor.Tensor, p Params) error {
	shape, err := c.fit("conv filter gradient", x, dw, dy, p, nil)
	if err != nil {
		return err
	}
	shape.Wide = x.DType() != dw.DType()
	frames, err := c.frames(shape)
	switch {
	case err != nil:
		return err
	case frames == shape.N:
		return c.filterGradient(shape, dw, x, dy, p.Accumulate)
	}
	return c.eachPart(shape, frames, func(part cudnn.Conv, first bool, v []*tensor.Tensor) error {
		return c.filterGradient(part, dw, v[0], v[1], p.Accumulate || !first)
	}, x, dy)
}

// filterGradient computes dw from the number of frames that cuDNN takes at once.
func (c *CUDA) filterGradient(shape cudnn.Conv, dw, x, dy *tensor.Tensor, accumulate bool) (err error) {
	o := cudnn.Operands{X: tensor.At(x)}
	if o.Y, err = c.upstream(shape, dy); err != nil {
		return err
	}
	if _, known := c.narrow[shape]; shape.Wide && !known {
		if err := c.compareFilters(shape, o, dw, accumulate); err != nil {
			return err
		}
	}
	if !c.narrow[shape] {
		return c.gradient(cudnn.FilterGradient, shape, o, dw, nil, accumulate, false)
	}
	shape.Wide = false
	if o.W, err = c.scratch.Reserve(c.device, dw.Len()*tensor.BFloat16.Size()); err != nil {
		return err
	}
	if err := c.cudnn.Run(cudnn.FilterGradient, shape, o); err != nil {
		return err
	}
	return c.widen(dw, o.W, accumulate)
}

// compareFilters decides for a shape whether its filter gradient is written in float32 from bfloat16
// operands. That saves a rounding, but cuDNN has few engines for it, and none if channels are not a multiple
// of 8. A float32 engine slower than slower times the bfloat16 engine is not used. Both are tried in the
// memory of dw, which the gradient overwrites, unless dw is accumulated to.
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
	if geometryOf(wide).likeFirst() {
		c.cudnn.Include(cudnn.FilterGradient, wide, c.firstFilter(wide))
	}
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

// gradient computes a gradient into d. It uses scratch memory if d holds values that are still needed: the
// sum so far, or the mask.
func (c *CUDA) gradient(pass cudnn.Pass, shape cudnn.Conv, o cudnn.Operands, d, mask *tensor.Tensor, accumulate,
	inPlace bool) error {
	to := tensor.At(d)
	if accumulate || inPlace {
		var err error
		if to, err = c.scratch.Reserve(c.device, d.Bytes()); err != nil {
			return err
		}
	}
	var err error
	if pass == cudnn.DataGradient {
		o.X = to
		err = c.runDataGradient(shape, o)
	} else {
		o.W = to
		err = c.cudnn.Run(pass, shape, o)
	}
	if err != nil || mask == nil && !accumulate {
		return err
	}
	return c.endGradient(d, to, mask, accumulate)
}
