package simd

import "math"

// The exponential of the Go twins.
const (
	expTableBits = 7
	expTableSize = 1 << expTableBits
	expShift     = 3 << 51 // adding it to a float64 rounds to an integer, left in the low bits
	expLowest    = -708    // exp(-708) is the last decade of normal float64
)

// expTable[i] holds the bits of 2^(i/128), less the part of i that the exponent field would get
// when an integer multiple of 1/128 is added by shifting it into place.
var expTable = func() (table [expTableSize]uint64) {
	for i := range table {
		table[i] = math.Float64bits(math.Exp2(float64(i)/expTableSize)) - uint64(i)<<(52-expTableBits)
	}
	return table
}()

// ExpNegative computes exp(x) for x <= 0, with a relative error below 5e-9, a twelfth of a float32 rounding
// error. Below -708 it returns exp(-708). NaN gives NaN.
//
// exp(x) = 2^(k/128) · exp(r), |r| <= ln2/256, with two terms of the series of exp(r) after 1.
func ExpNegative(x float64) float64 {
	if x < expLowest {
		x = expLowest
	}
	const toSteps = expTableSize / math.Ln2
	const c1 = 1 / toSteps
	const c2 = c1 * c1 / 2
	t := x * toSteps
	shifted := t + expShift
	k := math.Float64bits(shifted)
	r := t - (shifted - expShift)
	scale := math.Float64frombits(expTable[k%expTableSize] + k<<(52-expTableBits))
	return scale + scale*r*(c1+c2*r)
}
