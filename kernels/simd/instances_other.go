//go:build !amd64 || noasm

package simd

func (l Level) sumSoftplus(s *Softplus) { sumSoftplusGeneric(s) }

func (l Level) sumRows64(dst []float64, src []float32, stride, rows, width int) {
	sumRows64Generic(dst, src, stride, rows, width)
}

func (l Level) scaleRows(dst []float32, stride, rows int, factors []float32) {
	scaleRowsGeneric(dst, stride, rows, factors)
}
