//go:build cuda

package conv

import "nmn/cuda/cudnn"

var _ Planner = (*CUDA)(nil)

// Ahead implements Planner.
func (c *CUDA) Ahead(calls []Call) {
	var shapes []cudnn.Shape
	for _, call := range calls {
		shapes = append(shapes, c.shapesOf(call)...)
	}
	c.cudnn.Ahead(shapes)
}

// shapesOf are the plans that a call is computed by or chosen among; none for what the call itself will refuse.
func (c *CUDA) shapesOf(call Call) []cudnn.Shape {
	shape, err := c.fit("ahead", call.X, call.W, call.Y, call.Params, call.Mask)
	if err != nil {
		return nil
	}
	wide := shape
	switch call.Pass {
	case Forward:
		shape.Wide = call.X.DType() != call.Y.DType()
		return []cudnn.Shape{{Pass: forwardPass(call.Bias != nil, call.Params.ReLU), Conv: shape}}
	case FilterGradient:
		if wide.Wide = call.X.DType() != call.W.DType(); wide.Wide {
			return []cudnn.Shape{{Pass: cudnn.FilterGradient, Conv: wide}, {Pass: cudnn.FilterGradient, Conv: shape}}
		}
		return []cudnn.Shape{{Pass: cudnn.FilterGradient, Conv: shape}}
	}
	return []cudnn.Shape{{Pass: cudnn.DataGradient, Conv: shape}}
}
