//go:build !noasm

package simd

func (l Level) maxWindows(dst, upper, lower []float32, channels, count int) {
	switch l {
	case AVX512:
		maxWindowsAVX512(at(upper), at(lower), at(dst), channels, count)
	case AVX2:
		maxWindowsAVX2(at(upper), at(lower), at(dst), channels, count)
	default:
		maxWindowsGeneric(dst, upper, lower, channels, count)
	}
}

func (l Level) scatterWindows(s *WindowScatter, channels, count int) {
	switch {
	case l == AVX512 && s.ReLU:
		scatterWindowsReLUAVX512(at(s.DUpper), at(s.DLower), at(s.Upper), at(s.Lower), at(s.Top), at(s.Grad), channels, count)
	case l == AVX512:
		scatterWindowsAVX512(at(s.DUpper), at(s.DLower), at(s.Upper), at(s.Lower), at(s.Top), at(s.Grad), channels, count)
	case l == AVX2 && s.ReLU:
		scatterWindowsReLUAVX2(at(s.DUpper), at(s.DLower), at(s.Upper), at(s.Lower), at(s.Top), at(s.Grad), channels, count)
	case l == AVX2:
		scatterWindowsAVX2(at(s.DUpper), at(s.DLower), at(s.Upper), at(s.Lower), at(s.Top), at(s.Grad), channels, count)
	default:
		scatterWindowsGeneric(s, channels, count)
	}
}

func (l Level) meanWindows(dst, upper, lower []float32, channels, count int) {
	switch l {
	case AVX512:
		meanWindowsAVX512(at(upper), at(lower), at(dst), channels, count)
	case AVX2:
		meanWindowsAVX2(at(upper), at(lower), at(dst), channels, count)
	default:
		meanWindowsGeneric(dst, upper, lower, channels, count)
	}
}

func (l Level) spreadWindows(dUpper, dLower, grad []float32, channels, count int) {
	switch l {
	case AVX512:
		spreadWindowsAVX512(at(dUpper), at(dLower), at(grad), channels, count)
	case AVX2:
		spreadWindowsAVX2(at(dUpper), at(dLower), at(grad), channels, count)
	default:
		spreadWindowsGeneric(dUpper, dLower, grad, channels, count)
	}
}
