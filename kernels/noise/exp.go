package noise

import (
	"math"

	"nmn/kernels/simd"
)

// logistic computes sigmoid(x) = 1/(1+exp(-x)) and its complement sigmoid(-x), both with a relative
// error below 5e-9. Beyond |x| = 708 the smaller one is exp(-708).
func logistic(x float64) (p, complement float64) {
	e := simd.ExpNegative(-math.Abs(x))
	large := 1 / (1 + e)
	// Exchanged as integers, which compiles to no branch: signs are not predictable.
	positive, negative := math.Float64bits(large), math.Float64bits(e*large)
	if large, small := positive, negative; math.Signbit(x) {
		positive, negative = small, large
	}
	return math.Float64frombits(positive), math.Float64frombits(negative)
}

// softplus computes log(1+exp(x)) without overflow.
func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// logAddExp computes log(exp(a)+exp(b)) without overflow.
func logAddExp(a, b float64) float64 {
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}
