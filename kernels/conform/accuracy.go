package conform

import (
	"fmt"
	"math"
)

// Accuracy is what a numeric mode of a device promises for sums of products. A sum of L terms may be
// off by Norm·(1 + √L/16): rounding errors of a sum grow as a random walk.
type Accuracy struct {
	Norm    float64 // ‖got - want‖ / ‖want‖ over a whole tensor
	Element float64 // largest |got - want| relative to the largest |want|
}

// FP32 is the accuracy of float32 arithmetic.
func FP32() Accuracy { return Accuracy{Norm: 1e-6, Element: 6e-6} }

// TF32 is the accuracy of products with 10 bits of mantissa and sums in float32.
func TF32() Accuracy { return Accuracy{Norm: 1e-3, Element: 6e-3} }

// BF16 is the accuracy of operands with 7 bits of mantissa and sums in float32.
func BF16() Accuracy { return Accuracy{Norm: 8e-3, Element: 5e-2} }

// verdict decides whether the values of an operand are right. got and want have equal length.
type verdict func(a Accuracy, got, want []float64) error

// exact accepts equal values only: selections and copies.
func exact(_ Accuracy, got, want []float64) error {
	return pointwise(0, 0)(Accuracy{}, got, want)
}

// sums accepts sums of so many products by norm and by largest element.
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

// pointwise accepts |got - want| <= atol + rtol·|want| for each element, whatever the device's mode
// is: losses, noise model and weights are float32 in all of them.
func pointwise(rtol, atol float64) verdict {
	return func(_ Accuracy, got, want []float64) error {
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
