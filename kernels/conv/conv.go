// Package conv is the convolution: forward with fused bias and ReLU, and the gradients with respect
// to data, filter and bias. Fully connected layers are convolutions over a 1×1 map.
package conv

import "nmn/kernels/tensor"

// Params are the constants of a convolution.
type Params struct {
	Pad int // zeros added on all four sides
	// Stride is the distance of neighbouring windows, equal in both directions; 0 means 1.
	Stride int
	// ReLU clamps the results of Conv and ConvAdd at 0. The other operations ignore it.
	ReLU bool
	// Accumulate adds a gradient to its destination instead of overwriting it.
	Accumulate bool
	// RoundedBias is the bias of Conv in bfloat16, if the caller has it. A device that computes in bfloat16 may
	// add it in place of the bias. Otherwise that device would round the bias in every call.
	RoundedBias *tensor.Tensor
}

// Ops is the family. Cross-correlation, as every framework calls convolution:
//
//	y[n,p,q,k] = b[k] + sum over r,s,c of x[n, p·Stride+r-Pad, q·Stride+s-Pad, c] · w[k,r,s,c]
//
// x is N×H×W×C, w is K×R×S×C, b is K, y is N×P×Q×K with P = (H+2Pad-R)/Stride + 1 and Q = (W+2Pad-S)/Stride +
// 1, rounded down. Pixels outside of x are 0. Every destination is overwritten unless Accumulate is set.
// Shapes that do not fit give an error that wraps tensor.ErrShape. Results do not depend on the number of
// threads.
//
// A device may compute in bfloat16: x, w, dx and mask then have that type, b and db are float32, and y, dy
// and dw may have either type.
type Ops interface {
	// Conv computes y. b may be nil for no bias.
	Conv(y, x, w, b *tensor.Tensor, p Params) error
	// ConvAdd computes y = act(conv(x) + b + shortcut), the end of a residual block (He et al. 2016, equation
	// 1). shortcut has the shape and type of y, and may be its memory. b may be nil. act is ReLU if p asks
	// for it, else nothing. If dy is masked by y > 0, it is the gradient of the shortcut.
	ConvAdd(y, x, w, b, shortcut *tensor.Tensor, p Params) error
	// ConvGradData computes dx from dy. If mask is not nil it has the shape of x, and dx is set to 0 wherever
	// mask <= 0 (after accumulation). With the layer's input x as mask this is the ReLU of the layer below.
	// dx must not overlap dy. dx may be the same memory as mask.
	ConvGradData(dx, dy, w, mask *tensor.Tensor, p Params) error
	// ConvGradDataBias computes dx as ConvGradData does and the bias gradient of the layer below, db[c] = sum
	// over n,h,w of dx[n,h,w,c], in one pass over memory if the device can. Accumulate adds to db; dx is
	// overwritten. Sums use dx as it is stored, and equal ConvGradBias in every bit.
	ConvGradDataBias(dx, db, dy, w, mask *tensor.Tensor, p Params) error
	// ConvGradFilter computes dw, K×R×S×C, from x and dy, summed over bags and cells.
	ConvGradFilter(dw, x, dy *tensor.Tensor, p Params) error
	// ConvGradBias computes db[k] = sum over n,p,q of dy[n,p,q,k].
	ConvGradBias(db, dy *tensor.Tensor, p Params) error
}

// fitBias checks a bias gradient of K numbers against the tensor dy whose last dimension it belongs to.
func fitBias(operation string, db, dy *tensor.Tensor) error {
	if db == nil || dy == nil || db.Rank() != 1 || dy.Rank() != 4 || dy.Dim(3) != db.Len() {
		return tensor.Misfit(operation, "bias %s, output %s", db, dy)
	}
	return nil
}

// fitShortcut checks the shortcut of ConvAdd against the output that it is added to.
func fitShortcut(operation string, shortcut, y *tensor.Tensor) error {
	if shortcut == nil || y == nil || shortcut.DType() != y.DType() || !tensor.SameShape(shortcut, y) {
		return tensor.Misfit(operation, "shortcut %s for output %s", shortcut, y)
	}
	return nil
}

// Geometry is the checked shape of a convolution. The letters follow package tensor; P and Q are the rows and
// columns of the output.
type Geometry struct{ N, H, W, C, K, R, S, P, Q, Pad, Stride int }

// Fit checks x N×H×W×C, w K×R×S×C and y N×P×Q×K against each other. It is the shape rule of every
// device.
func Fit(operation string, x, w, y *tensor.Tensor, p Params) (Geometry, error) {
	for _, t := range [...]*tensor.Tensor{x, w, y} {
		if !t.IsFloats() || t.Rank() != 4 {
			return Geometry{}, tensor.Misfit(operation, "input %s, filter %s, output %s: each needs four dimensions of floats",
				x, w, y)
		}
	}
	g := Geometry{N: x.Dim(0), H: x.Dim(1), W: x.Dim(2), C: x.Dim(3), K: w.Dim(0), R: w.Dim(1), S: w.Dim(2), Pad: p.Pad}
	g.Stride = max(1, p.Stride)
	down, across := g.H+2*p.Pad-g.R, g.W+2*p.Pad-g.S
	g.P, g.Q = down/g.Stride+1, across/g.Stride+1
	switch {
	case p.Stride < 0:
		return g, tensor.Misfit(operation, "stride %d: want 1 or more", p.Stride)
	case w.Dim(3) != g.C:
		return g, tensor.Misfit(operation, "input %s, filter %s: channels %d and %d differ", x, w, g.C, w.Dim(3))
	case p.Pad < 0 || g.R < 1 || g.S < 1 || p.Pad >= g.R || p.Pad >= g.S:
		return g, tensor.Misfit(operation,
			"filter %s with padding %d: the padding must be at least 0 and smaller than the filter", w, p.Pad)
	case down < 0 || across < 0:
		return g, tensor.Misfit(operation, "input %s is smaller than filter %s with padding %d", x, w, p.Pad)
	case !y.IsFloats(g.N, g.P, g.Q, g.K):
		return g, tensor.Misfit(operation, "input %s, filter %s, padding %d, stride %d give output %s, not %s", x, w, p.Pad,
			g.Stride, tensor.Format([]int{g.N, g.P, g.Q, g.K}), y)
	}
	return g, nil
}
