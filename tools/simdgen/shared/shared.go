// Package shared holds the constants that loops of all processors share. The loops in Go of package simd have the same
// values.
package shared

import "math"

// The logarithm of 2 in two parts, the first with few digits: its products with small integers are exact.
const (
	Ln2High = 0.693359375
	Ln2Low  = math.Ln2 - Ln2High
)

// RoundingShift rounds a number to an integer if it is added. The integer is left in the low bits.
const RoundingShift = 3 << 22

// The bounds of arguments of the exponential function, so that powers of two stay normal numbers.
const (
	ExponentLowest  = -87
	ExponentHighest = 87
)

// The constants of package simd's transformer.go.
const (
	GELUEnd    = 5.6
	GELULowest = -128
	GELULinear = 1.5957691216057308
	GELUCubic  = GELULinear * .044715
	GELUSlope  = 1.702
)

// The polynomials of GELU, above and below the fraction line.
var (
	GELUAbove = []float32{2.170595436723488e-08, 6.551345450134249e-06, 0.00018813746282830834, 0.0047938209027051926,
		0.03567402809858322, 0.3989420533180237}
	GELUBelow = []float32{1.1819892051789793e-06, 8.021428220672533e-05, 0.0019926067907363176, 0.029701732099056244,
		0.25608524680137634, 1}
)

// Series is 1/k!, a coefficient of the exponential series.
func Series(k int) float32 {
	coefficient := 1.0
	for i := 2; i <= k; i++ {
		coefficient /= float64(i)
	}
	return float32(coefficient)
}
