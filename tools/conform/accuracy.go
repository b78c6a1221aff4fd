package conform

import (
	"fmt"
	"math"

	"nmn/kernels/tensor"
)

// Accuracy is the accuracy of a numeric mode of a device for sums of products. A sum of L terms may be off by
// Norm·(1 + √L/16): rounding errors of a sum grow as a random walk.
type Accuracy struct {
	Norm    float64 // ‖got - want‖ / ‖want‖ over a whole tensor
	Element float64 // largest |got - want| relative to the largest |want|
	Store   float64 // largest |got - want| / |want| of a number that is only stored
}

// FP32 is the accuracy of float32 arithmetic.
func FP32() Accuracy { return Accuracy{Norm: 1e-6, Element: 6e-6} }

// TF32 is the accuracy of products with 10 bits of mantissa, which are cut in the worst case, and sums in
// float32: each factor is too small by up to 2^-10 of itself, by half of that in the mean.
func TF32() Accuracy { return Accuracy{Norm: 0x1p-10, Element: 6 * 0x1p-10} }

// BF16 is the accuracy of results that are rounded to 7 bits of mantissa, off by up to 2^-8 of themselves,
// from operands that bfloat16 holds exactly and sums in float32. A result that is accumulated is rounded
// twice.
func BF16() Accuracy { return Accuracy{Norm: 0x1p-8, Element: 0x1p-7, Store: 0x1p-8} }

func accuracyOf(p tensor.Precision) Accuracy {
	switch p {
	case tensor.TF32:
		return TF32()
	case tensor.BF16:
		return BF16()
	}
	return FP32()
}

// verdict decides whether the values of an operand are right. got and want have equal length.
type verdict func(a Accuracy, got, want []float64) error

// exact accepts equal values only: selections and copies.
func exact(_ Accuracy, got, want []float64) error {
	return pointwise(0, 0)(Accuracy{}, got, want)
}

// sums accepts sums of this number of products by norm and by largest element.
func sums(terms int) verdict {
	return func(a Accuracy, got, want []float64) error {
		growth := 1 + math.Sqrt(float64(terms))/16
		offNorm, wantNorm, worst, largest, at := 0.0, 0.0, 0.0, 0.0, 0
		for i := range want {
			off := math.Abs(got[i] - want[i])
			offNorm += off * off
			wantNorm += want[i] * want[i]
			largest = max(largest, math.Abs(want[i]))
			if math.IsNaN(off) || off > worst { // max would let a later number hide a NaN
				worst, at = off, i
			}
			if math.IsNaN(off) {
				break
			}
		}
		// Written so that a NaN fails.
		if !(math.Sqrt(offNorm) <= growth*a.Norm*math.Sqrt(wantNorm)) {
			return fmt.Errorf("relative norm of the error is %.3g, want %.3g; worst is element %d: %v, want %v",
				math.Sqrt(offNorm/wantNorm), growth*a.Norm, at, got[at], want[at])
		}
		if !(worst <= growth*a.Element*largest) {
			return fmt.Errorf("element %d is %v, want %v: off by %.3g of the largest, want %.3g",
				at, got[at], want[at], worst/largest, growth*a.Element)
		}
		return nil
	}
}

// summed accepts sums of numbers that are sums of products themselves and may cancel. size holds the sums of
// the products' magnitudes. Each sum may be off by as much as a product of two factors.
func summed(terms int, size []float64) verdict {
	return func(a Accuracy, got, want []float64) error {
		most := 2 * a.Norm * (1 + math.Sqrt(float64(terms))/16)
		for i := range want {
			if off := math.Abs(got[i] - want[i]); !(off <= most*size[i]+1e-6*math.Abs(want[i])) {
				return fmt.Errorf("element %d is %v, want %v: off by %.3g of the sum of magnitudes, want %.3g", i,
					got[i], want[i], off/size[i], most)
			}
		}
		return nil
	}
}

// pointwise accepts |got - want| <= atol + rtol·|want| for each element. The device's mode adds the rounding
// of stored numbers: nothing for losses, noise model and weights, which are float32 in all modes.
func pointwise(rtol, atol float64) verdict {
	return func(a Accuracy, got, want []float64) error {
		rtol := rtol + a.Store
		for i := range want {
			if got[i] == want[i] || math.IsNaN(got[i]) && math.IsNaN(want[i]) { // infinities too
				continue
			}
			if off := math.Abs(got[i] - want[i]); !(off <= atol+rtol*math.Abs(want[i])) || math.IsInf(want[i], 0) {
				return fmt.Errorf("element %d is %v, want %v within %.3g", i, got[i], want[i], atol+rtol*math.Abs(want[i]))
			}
		}
		return nil
	}
}
