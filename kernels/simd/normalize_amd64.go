//go:build !noasm

package simd

import "unsafe"

// Bytes of a group of four pixels among 16 of the source: the first 12, or the last 12 with the pixels in
// reverse.
var (
	inOrder  = [16]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	reversed = [16]uint8{13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 0, 1, 2, 3}
)

// normalize handles groups of four pixels where the level has assembly, and returns the number of pixels.
// Behind the last group are two pixels more at least.
func (l Level) normalize(dst []float32, src []uint8, n *Normalization, groups int) int {
	if l == Generic {
		return 0
	}
	var mean, scale [16]float32
	for i := range mean {
		mean[i], scale[i] = n.Mean[i%3], n.Scale[i%3]
	}
	order, from, step := &inOrder, 0, 12
	if n.Mirrored {
		order, from, step = &reversed, len(src)-16, -12
	}
	if l == AVX512 {
		normalizeAVX512(at(dst), unsafe.SliceData(src[from:]), step, &order[0], &mean[0], &scale[0], groups)
	} else {
		normalizeAVX2(at(dst), unsafe.SliceData(src[from:]), step, &order[0], &mean[0], &scale[0], groups)
	}
	return 4 * groups
}
