package misplaced

import "math"

const (
	expSteps = 256 // steps per doubling, in the table
	expShift = 8   // log2 of these
	// roundToInteger, added, leaves an integer in the last bits of a number.
	roundToInteger = 0x1.8p52
)

// powers are 2^(i/expSteps).
var powers = func() (p [expSteps]float64) {
	for i := range p {
		p[i] = math.Exp2(float64(i) / expSteps)
	}
	return p
}()

// exp is math.Exp for |x| <= 700, faster: within 2e-13 of it, relative. With x = (256 k + i) ln 2/256 + r it is
// 2^k · 2^(i/256) · e^r, and |r| <= .0014. It is short enough to be inlined.
func exp(x float64) float64 {
	rounded := x*(expSteps/math.Ln2) + roundToInteger
	r := x - (rounded-roundToInteger)*(math.Ln2/expSteps)
	n := math.Float64bits(rounded)
	e := 1 + r*(1+r*(.5+r*(1./6+r*(1./24))))
	return math.Float64frombits(math.Float64bits(powers[n%expSteps]*e) + n>>expShift<<52)
}
