//go:build !noasm

package simd

import "unsafe"

func (l Level) scatterFirst(s *FirstScatter, channels int) {
	// The last candidate gets what is left, so the kernel compares those before it alone.
	last, offsets := len(s.Offsets)-1, unsafe.SliceData(s.Offsets)
	lo, end, rest := min(s.Lo, last), min(s.Hi, last), bit(s.Lo <= last && s.Hi > last)
	d, x, top, grad := at(s.D), at(s.X), at(s.Top), at(s.Grad)
	switch {
	case l == AVX512 && s.ReLU:
		scatterFirstReLUAVX512(d, x, top, grad, offsets, lo, end, rest, channels, s.Step, s.Count)
	case l == AVX512:
		scatterFirstAVX512(d, x, top, grad, offsets, lo, end, rest, channels, s.Step, s.Count)
	case l == AVX2 && s.ReLU:
		scatterFirstReLUAVX2(d, x, top, grad, offsets, lo, end, rest, channels, s.Step, s.Count)
	case l == AVX2:
		scatterFirstAVX2(d, x, top, grad, offsets, lo, end, rest, channels, s.Step, s.Count)
	default:
		scatterFirstGeneric(s, channels)
	}
}
