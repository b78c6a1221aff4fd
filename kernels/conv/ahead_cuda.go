//go:build cuda

package conv

import (
	"nmn/cuda/cudnn"
	"nmn/kernels/tensor"
)

var _ Planner = (*CUDA)(nil)

func (c *CUDA) Ahead(calls []Call) {
	var shapes []cudnn.Shape
	for _, call := range calls {
		shapes = append(shapes, c.shapesOf(call)...)
	}
	c.cudnn.Ahead(shapes)
}

// shapesOf returns the plans that may compute a call. It returns none if the call itself will be refused.
func (c *CUDA) shapesOf(call Call) (list []cudnn.Shape) {
	whole, err := c.fit("ahead", call.X, call.W, call.Y, call.Params, call.Mask)
	if err != nil {
		return nil
	}
	frames, err := c.frames(whole)
	if err != nil {
		return nil
	}
	for _, n := range []int{frames, whole.N % frames} {
		if part := whole; n > 0 {
			part.N = n
			list = append(list, c.shapesOfPart(call, part)...)
		}
	}
	return list
}

// shapesOfPart returns the plans for the number of frames that cuDNN takes at once.
func (c *CUDA) shapesOfPart(call Call, plain cudnn.Conv) []cudnn.Shape {
	wide, narrow := plain, plain
	half := plain.Precision == cudnn.BFloat16
	switch call.Pass {
	case Forward:
		pass := forwardPass(call.Bias != nil, call.Params.ReLU)
		wide.Wide = half && call.Y.DType() == tensor.Float32
		if !half || wide.Wide || call.Bias == nil {
			return []cudnn.Shape{{Pass: pass, Conv: wide}}
		}
		narrow.NarrowBias = true
		list := []cudnn.Shape{{Pass: pass, Conv: plain}, {Pass: pass, Conv: narrow}, {Pass: cudnn.Forward, Conv: plain}}
		if product, ok := c.unfoldedOf(narrow); ok {
			list = append(list, cudnn.Shape{Pass: pass, Conv: product})
		}
		return list
	case FilterGradient:
		wide.Wide = half && call.W.DType() == tensor.Float32
		if wide.Wide {
			return []cudnn.Shape{{Pass: cudnn.FilterGradient, Conv: wide}, {Pass: cudnn.FilterGradient, Conv: plain}}
		}
		return []cudnn.Shape{{Pass: cudnn.FilterGradient, Conv: plain}}
	}
	if product, ok := c.columnsOf(plain); ok {
		return []cudnn.Shape{{Pass: cudnn.DataGradient, Conv: product}}
	}
	if call.Mask != nil && plain.Precision != cudnn.Float32 {
		return []cudnn.Shape{{Pass: cudnn.MaskedDataGradient, Conv: plain}, {Pass: cudnn.DataGradient, Conv: plain}}
	}
	return []cudnn.Shape{{Pass: cudnn.DataGradient, Conv: plain}}
}
