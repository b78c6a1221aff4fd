//go:build !amd64 || noasm

package simd

func (l Level) scale(x []float32, a float32) { scaleGeneric(x, a) }

func (l Level) addScaled(dst, src []float32, a float32) { addScaledGeneric(dst, src, a) }

func (l Level) relu(dst, src []float32) { reluGeneric(dst, src) }

func (l Level) reluGrad(dst, grad, y []float32) { reluGradGeneric(dst, grad, y) }

func (l Level) maxOfFour(dst, x0, x1, x2, x3 []float32) { maxOfFourGeneric(dst, x0, x1, x2, x3) }

func (l Level) scatterMax(s *Scatter, n int) { scatterMaxGeneric(s, n) }

func (l Level) sgd(w, g, m []float32, lr, momentum, decay float32) {
	sgdGeneric(w, g, m, lr, momentum, decay)
}

func (l Level) adam(w, g, m, v []float32, p *AdamStep) { adamGeneric(w, g, m, v, p) }

func (l Level) adamW(w, g, m, v []float32, p *AdamStep) { adamWGeneric(w, g, m, v, p) }

func (l Level) approach(dst, src []float32, share float32) { approachGeneric(dst, src, share) }
