package conform

import (
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/tools/ref"
)

// residualFaults are faults of strides, of shortcuts and of windows that overlap.
var residualFaults = []fault{
	{"ignores the stride", "Conv", "element", func(b kernels.Backend, y, x, w, bias array, p conv.Params) error {
		if _, err := conv.Fit("conv", x, w, y, p); err != nil || p.Stride < 2 {
			return b.Conv(y, x, w, bias, p)
		}
		all, p := withoutStride(y, x, w, p)
		err := b.Conv(all, x, w, bias, p)
		copyCorner(y, all, func(small, large *float32) { *small = *large })
		return err
	}},
	{"ignores the stride", "ConvGradData", "element", func(b kernels.Backend, dx, dy, w, mask array,
		p conv.Params) error {
		if _, err := conv.Fit("conv gradient of data", dx, w, dy, p); err != nil || p.Stride < 2 {
			return b.ConvGradData(dx, dy, w, mask, p)
		}
		all, p := withoutStride(dy, dx, w, p)
		copyCorner(dy, all, func(small, large *float32) { *large = *small })
		return b.ConvGradData(dx, all, w, mask, p)
	}},
	{"ignores the stride", "ConvGradFilter", "element", func(b kernels.Backend, dw, x, dy array, p conv.Params) error {
		if _, err := conv.Fit("conv gradient of filter", x, dw, dy, p); err != nil || p.Stride < 2 {
			return b.ConvGradFilter(dw, x, dy, p)
		}
		all, p := withoutStride(dy, x, dw, p)
		copyCorner(dy, all, func(small, large *float32) { *large = *small })
		return b.ConvGradFilter(dw, x, all, p)
	}},
	{"adds the shortcut after the ReLU", "ConvAdd", "element", func(b kernels.Backend, y, x, w, bias, shortcut array,
		p conv.Params) error {
		if !tensor.SameShape(shortcut, y) {
			return tensor.ErrShape
		}
		held := get(shortcut) // perhaps the memory of y
		err := b.Conv(y, x, w, bias, p)
		if err == nil {
			put(y, sum(get(y), held))
		}
		return err
	}},
	{"counts the border as 0", "MaxPool3", "element", func(b kernels.Backend, y, x array) error {
		if err := b.MaxPool3(y, x); err != nil {
			return err
		}
		for i, v := range y.Float32s() {
			q, p := i/y.Dim(3)%y.Dim(2), i/y.Dim(3)/y.Dim(2)%y.Dim(1)
			if p == 0 || q == 0 || 2*p+1 >= x.Dim(1) || 2*q+1 >= x.Dim(2) {
				y.Float32s()[i] = max(v, 0)
			}
		}
		return nil
	}},
	{"overwrites where windows overlap", "MaxPool3Grad", "element", func(b kernels.Backend, dx, dy, x, y array,
		relu bool) error {
		from := get(dy)
		if err := b.MaxPool3Grad(dx, dy, x, y, relu); err != nil {
			return err
		}
		m := mapOf(x)
		for i, place := range ref.MaxPoolArg(m, get(x), 1) {
			if !relu || x.Float32s()[place] > 0 {
				dx.Float32s()[place] = float32(from[i])
			}
		}
		return nil
	}},
}

// withoutStride is an empty map for the results at every place of the filter, and the parameters for it. y
// has each Stride-th of them.
func withoutStride(y, x, w array, p conv.Params) (array, conv.Params) {
	p.Stride = 1
	shape := []int{y.Dim(0), x.Dim(1) + 2*p.Pad - w.Dim(1) + 1, x.Dim(2) + 2*p.Pad - w.Dim(2) + 1, y.Dim(3)}
	return mustOf(make([]float32, shape[0]*shape[1]*shape[2]*shape[3]), shape), p
}

// copyCorner calls move for each element of the small map and the one at the same row and column of the large map.
func copyCorner(small, large array, move func(small, large *float32)) {
	h, w, c := small.Dim(1), small.Dim(2), small.Dim(3)
	for i := range small.Float32s() {
		n, p, q := i/c/w/h, i/c/w%h, i/c%w
		move(&small.Float32s()[i], &large.Float32s()[((n*large.Dim(1)+p)*large.Dim(2)+q)*c+i%c])
	}
}
