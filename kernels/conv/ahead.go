package conv

import "nmn/kernels/tensor"

// Planner is an Ops that makes a plan for each shape when that comes for the first time, which may take seconds. Ask a
// backend by a type assertion.
type Planner interface {
	// Ahead begins to make the plans of future calls, in this order, and returns at once. A plan that cannot
	// be made yet is made, or refused, when the call comes.
	Ahead(calls []Call)
}

// Call is a future call of Conv, of ConvGradData with or without a bias, or of ConvGradFilter, as its pass
// indicates. The destination is also given, for instance a gradient. Contents are not read.
type Call struct {
	Pass       Pass
	X, W, Y    *tensor.Tensor
	Bias, Mask *tensor.Tensor // nil for none
	Params     Params
}
