//go:build !noasm

package simd

import "unsafe"

func at64(s []float64) *float64 { return unsafe.SliceData(s) }

func (l Level) sumSoftplus(s *Softplus) {
	switch {
	case l == AVX512 && s.Sigmoid != nil:
		softplusSigmoidAVX512(at64(s.Positive), at64(s.Excess), at(s.Logits), at(s.Sigmoid), s.Stride, s.Rows, s.Width)
	case l == AVX512:
		softplusAVX512(at64(s.Positive), at64(s.Excess), at(s.Logits), s.Stride, s.Rows, s.Width)
	case l == AVX2 && s.Sigmoid != nil:
		softplusSigmoidAVX2(at64(s.Positive), at64(s.Excess), at(s.Logits), at(s.Sigmoid), s.Stride, s.Rows, s.Width)
	case l == AVX2:
		softplusAVX2(at64(s.Positive), at64(s.Excess), at(s.Logits), s.Stride, s.Rows, s.Width)
	default:
		sumSoftplusGeneric(s)
	}
}

func (l Level) sumRows64(dst []float64, src []float32, stride, rows, width int) {
	switch l {
	case AVX512:
		sumRows64AVX512(at64(dst), at(src), stride, rows, width)
	case AVX2:
		sumRows64AVX2(at64(dst), at(src), stride, rows, width)
	default:
		sumRows64Generic(dst, src, stride, rows, width)
	}
}

func (l Level) scaleRows(dst []float32, stride, rows int, factors []float32) {
	switch l {
	case AVX512:
		scaleRowsAVX512(at(dst), stride, at(factors), rows, len(factors))
	case AVX2:
		scaleRowsAVX2(at(dst), stride, at(factors), rows, len(factors))
	default:
		scaleRowsGeneric(dst, stride, rows, factors)
	}
}
