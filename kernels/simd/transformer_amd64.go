//go:build !noasm

package simd

func (l Level) sum(dst, a, b []float32) {
	switch l {
	case AVX512:
		sumAVX512(at(dst), at(a), at(b), len(dst))
	case AVX2:
		sumAVX2(at(dst), at(a), at(b), len(dst))
	default:
		sumGeneric(dst, a, b)
	}
}

func (l Level) addProduct(dst, r, x, factor []float32) {
	switch l {
	case AVX512:
		addProductAVX512(at(dst), at(r), at(x), at(factor), len(dst))
	case AVX2:
		addProductAVX2(at(dst), at(r), at(x), at(factor), len(dst))
	default:
		addProductGeneric(dst, r, x, factor)
	}
}

func (l Level) scaleTo(dst, src []float32, a float32) {
	switch l {
	case AVX512:
		scaleToAVX512(at(dst), at(src), a, len(dst))
	case AVX2:
		scaleToAVX2(at(dst), at(src), a, len(dst))
	default:
		scaleToGeneric(dst, src, a)
	}
}

func (l Level) moments(x []float32, first float64, sums *[16]float64, groups int) {
	switch l {
	case AVX512:
		momentsAVX512(at(x), first, &sums[0], groups)
	case AVX2:
		momentsAVX2(at(x), first, &sums[0], groups)
	default:
		momentsGeneric(x, first, sums, groups)
	}
}

func (l Level) standardize(dst, x, gain, bias []float32, s Standard) {
	switch l {
	case AVX512:
		standardizeAVX512(at(dst), at(x), at(gain), at(bias), s.High, s.Low, s.Inverse, len(dst))
	case AVX2:
		standardizeAVX2(at(dst), at(x), at(gain), at(bias), s.High, s.Low, s.Inverse, len(dst))
	default:
		standardizeGeneric(dst, x, gain, bias, s)
	}
}

func (l Level) gelu(dst, x []float32) {
	switch l {
	case AVX512:
		geluAVX512(at(dst), at(x), len(dst))
	case AVX2:
		geluAVX2(at(dst), at(x), len(dst))
	default:
		geluGeneric(dst, x)
	}
}

func (l Level) geluTanh(dst, x []float32) {
	switch l {
	case AVX512:
		geluTanhAVX512(at(dst), at(x), len(dst))
	case AVX2:
		geluTanhAVX2(at(dst), at(x), len(dst))
	default:
		geluTanhGeneric(dst, x)
	}
}

func (l Level) geluQuick(dst, x []float32) {
	switch l {
	case AVX512:
		geluQuickAVX512(at(dst), at(x), len(dst))
	case AVX2:
		geluQuickAVX2(at(dst), at(x), len(dst))
	default:
		geluQuickGeneric(dst, x)
	}
}

func (l Level) softmax(s *Softmax) {
	switch l {
	case AVX512:
		softmaxAVX512(at(s.Block), s.Stride, s.Rows, at(s.Top), at(s.Sum), at(s.Factor), len(s.Top))
	case AVX2:
		softmaxAVX2(at(s.Block), s.Stride, s.Rows, at(s.Top), at(s.Sum), at(s.Factor), len(s.Top))
	default:
		softmaxGeneric(s)
	}
}
