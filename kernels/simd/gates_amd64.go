//go:build !noasm

package simd

func (l Level) lstmGates(g *Gates, n int) {
	switch l {
	case AVX512:
		lstmGatesAVX512(at(g.I), at(g.F), at(g.G), at(g.O), at(g.Before), at(g.C), at(g.H), n)
	case AVX2:
		lstmGatesAVX2(at(g.I), at(g.F), at(g.G), at(g.O), at(g.Before), at(g.C), at(g.H), n)
	default:
		lstmGatesGeneric(g, n)
	}
}

func (l Level) lstmGatesGrad(g *GatesGrad, n int) {
	switch l {
	case AVX512:
		lstmGatesGradAVX512(at(g.I), at(g.F), at(g.G), at(g.O), at(g.Before), at(g.C), at(g.DH), at(g.DC), at(g.Carried), n)
	case AVX2:
		lstmGatesGradAVX2(at(g.I), at(g.F), at(g.G), at(g.O), at(g.Before), at(g.C), at(g.DH), at(g.DC), at(g.Carried), n)
	default:
		lstmGatesGradGeneric(g, n)
	}
}
