// Package half widens 16-bit floating point numbers.
package half

import "math"

// Float32 widens an IEEE 754 binary16. Every value, NaN payloads included, is kept.
func Float32(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10)&0x1f, uint32(h&0x3ff)
	switch exponent {
	case 0: // zero and subnormal numbers: fraction · 2^-24 is exact in float32
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
