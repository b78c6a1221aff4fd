//go:build !amd64 || noasm

package simd

func (l Level) sumSquares(x []float32, sums *[8]float64, groups int) int {
	return sumSquaresGeneric(x, sums, groups)
}
