package noise

import "math"

// The exponential of the per-instance loops. An instance costs one of them, one division and no
// logarithm: the sum of softplus over a bag is the logarithm of a product, taken once per class.
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

// expNegative computes exp(x) for x <= 0, with a relative error below 5e-9, a twelfth of a float32
// rounding error. Below -708 it returns exp(-708); NaN gives NaN.
//
// exp(x) = 2^(k/128) · exp(r), |r| <= ln2/256, with two terms of the series of exp(r) beyond 1.
func expNegative(x float64) float64 {
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

// logistic computes sigmoid(x) = 1/(1+exp(-x)) and its complement sigmoid(-x), both with a relative
// error below 5e-9. Beyond |x| = 708 the smaller one is exp(-708).
func logistic(x float64) (p, complement float64) {
	e := expNegative(-math.Abs(x))
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
