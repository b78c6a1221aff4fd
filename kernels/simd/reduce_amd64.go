//go:build !noasm

package simd

import "unsafe"

// reduceRows handles four rows where the level has assembly, and reports whether it has.
func (l Level) reduceRows(dst []uint8, dstStride int, src []uint8, srcStride int, r *Reduction) bool {
	if l == Generic {
		return false
	}
	reduceRowsAVX2(unsafe.SliceData(dst), dstStride, unsafe.SliceData(src), srcStride, unsafe.SliceData(r.bytes),
		unsafe.SliceData(r.pairs), r.groups, len(r.bytes))
	return true
}

// reduceColumns handles rows that are long enough where the level has assembly, and reports whether it has. What is
// left behind the last whole batch is computed together with the end of that batch, for the second time.
func (l Level) reduceColumns(dst, src []uint8, stride int, pairs []uint16) bool {
	const narrow, wide = 32, 64
	n, batch, kernel := len(dst), narrow, reduceColumnsAVX2
	switch {
	case l == Generic || n < narrow:
		return false
	case l == AVX512 && n >= wide:
		batch, kernel = wide, reduceColumnsAVX512
	}
	kernel(unsafe.SliceData(dst), unsafe.SliceData(src), stride, unsafe.SliceData(pairs), len(pairs)/4, n/batch)
	if n%batch > 0 {
		kernel(&dst[n-batch], &src[n-batch], stride, unsafe.SliceData(pairs), len(pairs)/4, 1)
	}
	return true
}
