//go:build !amd64 || noasm

package simd

func (l Level) sum(dst, a, b []float32) {
	sumGeneric(dst, a, b)
}

func (l Level) addProduct(dst, r, x, factor []float32) {
	addProductGeneric(dst, r, x, factor)
}

func (l Level) scaleTo(dst, src []float32, a float32) {
	scaleToGeneric(dst, src, a)
}

func (l Level) moments(x []float32, first float64, sums *[16]float64, groups int) {
	momentsGeneric(x, first, sums, groups)
}

func (l Level) standardize(dst, x, gain, bias []float32, s Standard) {
	standardizeGeneric(dst, x, gain, bias, s)
}

func (l Level) gelu(dst, x []float32) {
	geluGeneric(dst, x)
}

func (l Level) geluTanh(dst, x []float32) {
	geluTanhGeneric(dst, x)
}

func (l Level) geluQuick(dst, x []float32) {
	geluQuickGeneric(dst, x)
}

func (l Level) softmax(s *Softmax) {
	softmaxGeneric(s)
}
