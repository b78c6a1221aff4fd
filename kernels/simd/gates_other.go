//go:build !amd64 || noasm

package simd

func (l Level) lstmGates(g *Gates, n int) { lstmGatesGeneric(g, n) }

func (l Level) lstmGatesGrad(g *GatesGrad, n int) { lstmGatesGradGeneric(g, n) }
