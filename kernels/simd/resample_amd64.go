//go:build !noasm

package simd

import "unsafe"

// resampleRow handles count positions where the level has assembly, and returns their number.
func (l Level) resampleRow(dst []uint32, src []uint8, t *Taps, count int) int {
	if l == Generic {
		return 0
	}
	resampleRowAVX2(unsafe.SliceData(dst), unsafe.SliceData(src), unsafe.SliceData(t.bytes), unsafe.SliceData(t.weight), count)
	return count
}

// blendRows handles batches of 16 values where the level has assembly, and returns the number of values.
func (l Level) blendRows(dst []uint8, near, far []uint32, weights uint32, batches int) int {
	switch l {
	case AVX512:
		blendRowsAVX512(unsafe.SliceData(dst), unsafe.SliceData(near), unsafe.SliceData(far), weights, batches)
	case AVX2:
		blendRowsAVX2(unsafe.SliceData(dst), unsafe.SliceData(near), unsafe.SliceData(far), weights, batches)
	default:
		return 0
	}
	return 16 * batches
}
