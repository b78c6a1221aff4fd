//go:build !noasm

package simd

func (l Level) raise(top, x []float32, bias float32) {
	switch l {
	case AVX512:
		raiseAVX512(at(top), at(x), bias, len(top))
	case AVX2:
		raiseAVX2(at(top), at(x), bias, len(top))
	default:
		raiseGeneric(top, x, bias)
	}
}

func (l Level) addExp(sum, x, top []float32, bias float32) {
	switch l {
	case AVX512:
		addExpAVX512(at(sum), at(x), at(top), bias, len(sum))
	case AVX2:
		addExpAVX2(at(sum), at(x), at(top), bias, len(sum))
	default:
		addExpGeneric(sum, x, top, bias)
	}
}

func (l Level) scaledExp(x, top, factor []float32, bias float32) {
	switch l {
	case AVX512:
		scaledExpAVX512(at(x), at(top), at(factor), bias, len(x))
	case AVX2:
		scaledExpAVX2(at(x), at(top), at(factor), bias, len(x))
	default:
		scaledExpGeneric(x, top, factor, bias)
	}
}
