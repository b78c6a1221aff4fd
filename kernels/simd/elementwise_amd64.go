//go:build !noasm

package simd

func (l Level) scale(x []float32, a float32) {
	switch l {
	case AVX512:
		scaleAVX512(at(x), a, len(x))
	case AVX2:
		scaleAVX2(at(x), a, len(x))
	default:
		scaleGeneric(x, a)
	}
}

func (l Level) addScaled(dst, src []float32, a float32) {
	switch l {
	case AVX512:
		addScaledAVX512(at(dst), at(src), a, len(dst))
	case AVX2:
		addScaledAVX2(at(dst), at(src), a, len(dst))
	default:
		addScaledGeneric(dst, src, a)
	}
}

func (l Level) relu(dst, src []float32) {
	switch l {
	case AVX512:
		reluAVX512(at(dst), at(src), len(dst))
	case AVX2:
		reluAVX2(at(dst), at(src), len(dst))
	default:
		reluGeneric(dst, src)
	}
}

func (l Level) reluGrad(dst, grad, y []float32) {
	switch l {
	case AVX512:
		reluGradAVX512(at(dst), at(grad), at(y), len(dst))
	case AVX2:
		reluGradAVX2(at(dst), at(grad), at(y), len(dst))
	default:
		reluGradGeneric(dst, grad, y)
	}
}

func (l Level) maxOfFour(dst, x0, x1, x2, x3 []float32) {
	switch l {
	case AVX512:
		maxOfFourAVX512(at(dst), at(x0), at(x1), at(x2), at(x3), len(dst))
	case AVX2:
		maxOfFourAVX2(at(dst), at(x0), at(x1), at(x2), at(x3), len(dst))
	default:
		maxOfFourGeneric(dst, x0, x1, x2, x3)
	}
}

func (l Level) scatterMax(s *Scatter, n int) {
	switch {
	case l == AVX512 && s.ReLU:
		scatterMaxReLUAVX512(at(s.D[0]), at(s.D[1]), at(s.D[2]), at(s.D[3]), at(s.X[0]), at(s.X[1]), at(s.X[2]), at(s.Top), at(s.Grad), n)
	case l == AVX512:
		scatterMaxAVX512(at(s.D[0]), at(s.D[1]), at(s.D[2]), at(s.D[3]), at(s.X[0]), at(s.X[1]), at(s.X[2]), at(s.Top), at(s.Grad), n)
	case l == AVX2 && s.ReLU:
		scatterMaxReLUAVX2(at(s.D[0]), at(s.D[1]), at(s.D[2]), at(s.D[3]), at(s.X[0]), at(s.X[1]), at(s.X[2]), at(s.Top), at(s.Grad), n)
	case l == AVX2:
		scatterMaxAVX2(at(s.D[0]), at(s.D[1]), at(s.D[2]), at(s.D[3]), at(s.X[0]), at(s.X[1]), at(s.X[2]), at(s.Top), at(s.Grad), n)
	default:
		scatterMaxGeneric(s, n)
	}
}

func (l Level) sgd(w, g, m []float32, lr, momentum, decay float32) {
	switch l {
	case AVX512:
		sgdAVX512(at(w), at(g), at(m), lr, momentum, decay, len(w))
	case AVX2:
		sgdAVX2(at(w), at(g), at(m), lr, momentum, decay, len(w))
	default:
		sgdGeneric(w, g, m, lr, momentum, decay)
	}
}

func (l Level) adam(w, g, m, v []float32, p *AdamStep) {
	switch l {
	case AVX512:
		adamAVX512(at(w), at(g), at(m), at(v), p.LR, p.Decay, p.Beta1, p.Rest1, p.Beta2, p.Rest2, p.Correct1, p.Correct2, p.Epsilon, len(w))
	case AVX2:
		adamAVX2(at(w), at(g), at(m), at(v), p.LR, p.Decay, p.Beta1, p.Rest1, p.Beta2, p.Rest2, p.Correct1, p.Correct2, p.Epsilon, len(w))
	default:
		adamGeneric(w, g, m, v, p)
	}
}

func (l Level) adamW(w, g, m, v []float32, p *AdamStep) {
	switch l {
	case AVX512:
		adamWAVX512(at(w), at(g), at(m), at(v), p.LR, p.Decay, p.Beta1, p.Rest1, p.Beta2, p.Rest2, p.Correct1, p.Correct2, p.Epsilon, len(w))
	case AVX2:
		adamWAVX2(at(w), at(g), at(m), at(v), p.LR, p.Decay, p.Beta1, p.Rest1, p.Beta2, p.Rest2, p.Correct1, p.Correct2, p.Epsilon, len(w))
	default:
		adamWGeneric(w, g, m, v, p)
	}
}

func (l Level) approach(dst, src []float32, share float32) {
	switch l {
	case AVX512:
		approachAVX512(at(dst), at(src), share, len(dst))
	case AVX2:
		approachAVX2(at(dst), at(src), share, len(dst))
	default:
		approachGeneric(dst, src, share)
	}
}
