//go:build !noasm

package simd

import "unsafe"

// mixRows handles groups of 16 samples where the level has assembly, and returns their number.
func (l Level) mixRows(mixed []uint16, near, far []uint8, groups int) int {
	if l == Generic || groups == 0 {
		return 0
	}
	mixRowsAVX2(unsafe.SliceData(mixed), unsafe.SliceData(near), unsafe.SliceData(far), groups)
	return 16 * groups
}

// doubleRow handles groups of 16 samples where the level has assembly, and returns their number.
func (l Level) doubleRow(dst []uint8, mixed []uint16, even, odd uint16, groups int) int {
	if l == Generic || groups == 0 {
		return 0
	}
	doubleRowAVX2(unsafe.SliceData(dst), unsafe.SliceData(mixed), uint32(even)<<16|uint32(even), uint32(odd)<<16|uint32(odd), groups)
	return 16 * groups
}
