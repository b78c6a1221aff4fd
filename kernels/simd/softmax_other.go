//go:build !amd64 || noasm

package simd

func (l Level) raise(top, x []float32, bias float32) { raiseGeneric(top, x, bias) }

func (l Level) addExp(sum, x, top []float32, bias float32) { addExpGeneric(sum, x, top, bias) }

func (l Level) scaledExp(x, top, factor []float32, bias float32) {
	scaledExpGeneric(x, top, factor, bias)
}
