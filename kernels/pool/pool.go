// Package pool holds max pooling of feature maps, and the pooling of all cells of a bag to one vector.
package pool

import "nmn/kernels/tensor"

// Kind selects how BagPool joins cells.
type Kind uint8

// Kinds of pooling over the cells of a bag.
const (
	Mean Kind = iota
	Max
)

// String returns the name as flags have it.
func (k Kind) String() string { return [...]string{"mean", "max"}[k] }

// MaxGradParams are the constants of MaxPoolGradBias and MaxPool3GradBias.
type MaxGradParams struct {
	ReLU       bool // as for MaxPoolGrad
	Accumulate bool // adds the bias gradient to its destination; never the data gradient
}

// Ops is the family. Maps are NHWC.
//
// bags is int32 with N+1 ascending frame offsets, bags[0] = 0 and bags[N] = T: frames bags[n] to bags[n+1]
// (exclusive) make bag n. A nil bags means that each frame is a bag, N = T. Empty bags are an error on the
// CPU.
//
// A device may compute in bfloat16: maps then have that type, and the vectors of BagPool stay float32.
type Ops interface {
	// MaxPool computes 2×2 maxima with stride 2 in ceil mode: x is T×H×W×C, y is T×ceil(H/2)×ceil(W/2)×C.
	// Windows at the border are cut off.
	MaxPool(y, x *tensor.Tensor) error
	// MaxPoolGrad sends dy to the first largest element (row-major) of each window of x and 0 to all others.
	// dx is overwritten. y is the output of MaxPool. With relu, windows whose maximum is not above 0 get no
	// gradient: if x is the output of a ReLU, dx is then the gradient with respect to that ReLU's input.
	MaxPoolGrad(dx, dy, x, y *tensor.Tensor, relu bool) error
	// MaxPoolGradBias is MaxPoolGrad with its sum over all cells, db[c] = sum over t,h,w of dx[t,h,w,c]:
	// the gradient of the bias of the convolution that x comes from. db, float32 of C elements, is
	// overwritten, or added to with Accumulate.
	MaxPoolGradBias(dx, db, dy, x, y *tensor.Tensor, p MaxGradParams) error
	// MaxPool3 computes 3×3 maxima with stride 2 and padding 1 in floor mode, the pooling after the first
	// layer of residual nets: x is T×H×W×C, y is T×((H-1)/2+1)×((W-1)/2+1)×C, with
	//
	//	y[t,p,q,c] = max over r, s < 3 of x[t, 2p+r-1, 2q+s-1, c]
	//
	// over the pixels inside of x.
	MaxPool3(y, x *tensor.Tensor) error
	// MaxPool3Grad sends dy to the first largest element (row-major) of each window of MaxPool3. Windows
	// overlap: an element gets the sum over its windows, added in their order, row by row. dx is overwritten.
	// relu works as in MaxPoolGrad.
	MaxPool3Grad(dx, dy, x, y *tensor.Tensor, relu bool) error
	// MaxPool3GradBias is MaxPool3Grad that also puts the sum over all cells into db, as MaxPoolGradBias
	// does. Sums use dx as it is stored.
	MaxPool3GradBias(dx, db, dy, x, y *tensor.Tensor, p MaxGradParams) error
	// BagPool computes g[n,d] = mean or maximum of x over all cells of all frames of bag n: x is
	// T×H×W×D, g is N×D.
	BagPool(g, x, bags *tensor.Tensor, kind Kind) error
	// BagPoolGrad spreads dg over the cells: evenly for Mean, to the first largest cell for Max. dx is
	// overwritten, or added to when accumulate is set. x and g are only read for Max.
	BagPoolGrad(dx, dg, x, g, bags *tensor.Tensor, kind Kind, accumulate bool) error
}
