//go:build !noasm

package simd

func (l Level) sumSquares(x []float32, sums *[8]float64, groups int) int {
	switch l {
	case AVX512:
		sumSquaresAVX512(at(x), &sums[0], groups)
	case AVX2:
		sumSquaresAVX2(at(x), &sums[0], groups)
	default:
		sumSquaresGeneric(x, sums, groups)
	}
	return 8 * groups
}
