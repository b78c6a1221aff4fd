package conv

import "nmn/kernels/tensor"

// Planner is an Ops that makes a plan for each shape when that comes for the first time, which may take seconds. Ask a
// backend by a type assertion.
type Planner interface {
	// Ahead begins to make the plans of calls that are to come, in this order, and returns at once. What cannot be
	// made then is made, or refused, when the call comes.
	Ahead(calls []Call)
}

// Call is a call that is to come: of Conv, of ConvGradData with or without a bias, or of ConvGradFilter, as its pass
// says. In the place of the tensor that it writes stands that tensor, a gradient for instance; contents are not read.
type Call struct {
	Pass       Pass
	X, W, Y    *tensor.Tensor
	Bias, Mask *tensor.Tensor // nil for none
	Params     Params
}
