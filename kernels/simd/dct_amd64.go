//go:build !noasm

package simd

import "unsafe"

// inverseDCT handles pairs of blocks where the level has assembly, and returns the number of blocks.
func (l Level) inverseDCT(dst []uint8, stride int, coefs []int16, factors *[64]uint16, pairs int) int {
	if l == Generic {
		return 0
	}
	inverseDCTAVX2(unsafe.SliceData(dst), stride, unsafe.SliceData(coefs), &factors[0], pairs)
	return 2 * pairs
}
