//go:build !noasm

package simd

import "unsafe"

// ycbcr handles groups of eight pixels where the level has assembly, and returns the number of pixels.
// Behind the last group are two pixels more at least.
func (l Level) ycbcr(dst, luma, cb, cr []uint8, groups int) int {
	if l == Generic {
		return 0
	}
	ycbcrAVX2(unsafe.SliceData(dst), unsafe.SliceData(luma), unsafe.SliceData(cb), unsafe.SliceData(cr), groups)
	return 8 * groups
}
