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

// Numbers of exp(-|x|) = 2^k·2^r in float64: the coefficients of r⁶ to r of 2^r - 1. For |r| <= 1/2 the polynomial is
// minimax in the relative error of 2^r, which is 2.6e-9.
var Exponential64 = []float64{
	0.0001559467816132662, 0.0013406643902351759, 0.009617692972993062,
	0.05550310551013797, 0.24022652782887738, 0.6931472149680279,
}

const (
	Lowest64  = -708 * math.Log2E // exp(-708) is the last decade of normal float64
	Rounder64 = float64(3 << 51)  // rounds to an integer, left in the low bits, if it is added
)

// Fixed point of simd.InverseDCT, and its cosines.
const (
	DCTBits = 13
	DCTKeep = 2
)

var (
	DCTEven = [2][2]int{{10703, 4433}, {4433, -10704}} // of coefficients 2 and 6
	DCTOdd  = [4][4]int{{11363, 9633, 6437, 2260}, {9633, -2259, -11362, -6436}, {6437, -11362, 2261, 9633},
		{2260, -6436, 9633, -11363}} // of coefficients 1, 3, 5 and 7
)

// Fixed point of simd.Reduction: a weight has a sign and ReduceBits+1 bits. The lower ReduceLow bits and the others are
// in separate words. In a pair of weights the upper words of both come first, then the lower ones.
const (
	ReduceBits = 22
	ReduceLow  = 11
	PairBytes  = 8
)

// TapBits are the bits of the weights of simd.Taps.
const TapBits = 14
