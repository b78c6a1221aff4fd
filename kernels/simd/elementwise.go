package simd

import "math"

// The operations of this file give equal bits at every level: products are rounded before they are added.
// Arrays are as long as the first one, or longer. They may share memory if nothing else is stated, but must
// not overlap otherwise.

// Scale computes x = a·x.
func (l Level) Scale(x []float32, a float32) {
	if k := table[l].scale; k == nil {
		scaleGeneric(x, a)
	} else if len(x) > 0 {
		k(at(x), a, len(x))
	}
}

// AddScaled computes dst = dst + a·src.
func (l Level) AddScaled(dst, src []float32, a float32) {
	table[l].addScaled.run("add scaled", addScaledGeneric, dst, src, a)
}

// ReLU computes dst = src unless src <= 0, else 0: NaN stays.
func (l Level) ReLU(dst, src []float32) { table[l].relu.run("relu", reluGeneric, dst, src) }

// ReLUGrad computes dst = grad if y > 0, else 0.
func (l Level) ReLUGrad(dst, grad, y []float32) {
	table[l].reluGrad.run("relu gradient", reluGradGeneric, dst, grad, y)
}

// MaxOfFour computes dst = max(x0, x1, x2, x3), NaN if one of them is NaN.
func (l Level) MaxOfFour(dst, x0, x1, x2, x3 []float32) {
	atLeast("maximum", len(dst), x0, x1, x2, x3)
	if k := table[l].maxOfFour; k == nil {
		maxOfFourGeneric(dst, x0, x1, x2, x3)
	} else if len(dst) > 0 {
		k(at(dst), at(x0), at(x1), at(x2), at(x3), len(dst))
	}
}

// Scatter is the gradient of MaxOfFour, for windows of a map. X[i] are the first three inputs, Top is the
// maximum and Grad its gradient. D[i] is set to Grad if X[i] is the first to equal Top (D[3] if none of the
// three does), else to 0. With ReLU, Grad counts as 0 unless Top > 0.
//
// D[3] is written first and D[0] last. If a cut window names an element twice, the first name's value stays,
// and the later name has none to give.
type Scatter struct {
	D         [4][]float32
	X         [3][]float32
	Top, Grad []float32
	ReLU      bool
}

// ScatterMax computes a Scatter for n windows.
func (l Level) ScatterMax(s *Scatter, n int) {
	atLeast("gradient of maximum", n, s.D[0], s.D[1], s.D[2], s.D[3], s.X[0], s.X[1], s.X[2], s.Top, s.Grad)
	if k := table[l].scatterMax[bit(s.ReLU)]; k == nil {
		scatterMaxGeneric(s, n)
	} else if n > 0 {
		k(at(s.D[0]), at(s.D[1]), at(s.D[2]), at(s.D[3]), at(s.X[0]), at(s.X[1]), at(s.X[2]), at(s.Top), at(s.Grad), n)
	}
}

// SGD computes m = momentum·m + (g + decay·w), then w = w - lr·m, over the length of w.
func (l Level) SGD(w, g, m []float32, lr, momentum, decay float32) {
	atLeast("sgd", len(w), g, m)
	if k := table[l].sgd; k == nil {
		sgdGeneric(w, g, m, lr, momentum, decay)
	} else if len(w) > 0 {
		k(at(w), at(g), at(m), lr, momentum, decay, len(w))
	}
}

// AdamStep holds the constants of an update by Adam: Rest is 1-β, Correct is 1/(1-β^step).
type AdamStep struct {
	LR, Decay                                      float32
	Beta1, Rest1, Correct1, Beta2, Rest2, Correct2 float32
	Epsilon                                        float32
}

// Adam computes, over the length of w,
//
//	g' = g + Decay·w, m = Beta1·m + Rest1·g', v = Beta2·v + Rest2·g'·g',
//	w = w - LR·(m·Correct1) / (sqrt(v·Correct2) + Epsilon)
func (l Level) Adam(w, g, m, v []float32, p *AdamStep) {
	atLeast("adam", len(w), g, m, v)
	if k := table[l].adam; k == nil {
		adamGeneric(w, g, m, v, p)
	} else if len(w) > 0 {
		k(at(w), at(g), at(m), at(v), p.LR, p.Decay, p.Beta1, p.Rest1, p.Beta2, p.Rest2, p.Correct1, p.Correct2,
			p.Epsilon, len(w))
	}
}

// AdamW is Adam with decoupled decay: over the length of w,
//
//	m = Beta1·m + Rest1·g, v = Beta2·v + Rest2·g·g,
//	w = w - LR·((m·Correct1) / (sqrt(v·Correct2) + Epsilon) + Decay·w)
func (l Level) AdamW(w, g, m, v []float32, p *AdamStep) {
	atLeast("adamw", len(w), g, m, v)
	if k := table[l].adamW; k == nil {
		adamWGeneric(w, g, m, v, p)
	} else if len(w) > 0 {
		k(at(w), at(g), at(m), at(v), p.LR, p.Decay, p.Beta1, p.Rest1, p.Beta2, p.Rest2, p.Correct1, p.Correct2,
			p.Epsilon, len(w))
	}
}

// Approach computes dst = dst + share·(src - dst), over the length of dst.
func (l Level) Approach(dst, src []float32, share float32) {
	table[l].approach.run("approach", approachGeneric, dst, src, share)
}

// atLeast panics if a slice is shorter than n.
func atLeast(operation string, n int, slices ...[]float32) {
	for _, s := range slices {
		checkRows(operation, len(s), 0, 1, n)
	}
}

func scaleGeneric(x []float32, a float32) {
	for i := range x {
		x[i] *= a
	}
}

func addScaledGeneric(dst, src []float32, a float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] += float32(a * v)
	}
}

// keepBits is v if keep, else 0, chosen among integers: that compiles to no branch, and signs are not
// predictable.
func keepBits(v float32, keep bool) float32 {
	bits := math.Float32bits(v)
	if !keep {
		bits = 0
	}
	return math.Float32frombits(bits)
}

func reluGeneric(dst, src []float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = keepBits(v, !(v <= 0))
	}
}

func reluGradGeneric(dst, grad, y []float32) {
	grad, y = grad[:len(dst)], y[:len(dst)]
	for i, v := range grad {
		dst[i] = keepBits(v, y[i] > 0)
	}
}

func maxOfFourGeneric(dst, x0, x1, x2, x3 []float32) {
	x0, x1, x2, x3 = x0[:len(dst)], x1[:len(dst)], x2[:len(dst)], x3[:len(dst)]
	for i := range dst {
		dst[i] = max(max(x0[i], x1[i]), max(x2[i], x3[i]))
	}
}

func scatterMaxGeneric(s *Scatter, n int) {
	x0, x1, x2, top, grad := s.X[0][:n], s.X[1][:n], s.X[2][:n], s.Top[:n], s.Grad[:n]
	d0, d1, d2, d3 := s.D[0][:n], s.D[1][:n], s.D[2][:n], s.D[3][:n]
	for i, m := range top {
		left := keepBits(grad[i], !s.ReLU || m > 0)
		g0 := keepBits(left, x0[i] == m)
		left = keepBits(left, x0[i] != m)
		g1 := keepBits(left, x1[i] == m)
		left = keepBits(left, x1[i] != m)
		g2 := keepBits(left, x2[i] == m)
		d3[i] = keepBits(left, x2[i] != m)
		d2[i], d1[i] = g2, g1
		d0[i] = g0
	}
}

func sgdGeneric(w, g, m []float32, lr, momentum, decay float32) {
	g, m = g[:len(w)], m[:len(w)]
	for i, weight := range w {
		moment := float32(momentum*m[i]) + (g[i] + float32(decay*weight))
		m[i] = moment
		w[i] = weight - float32(lr*moment)
	}
}

func adamGeneric(w, g, m, v []float32, p *AdamStep) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	for i, weight := range w {
		grad := g[i] + float32(p.Decay*weight)
		m[i] = float32(p.Beta1*m[i]) + float32(p.Rest1*grad)
		v[i] = float32(p.Beta2*v[i]) + float32(float32(p.Rest2*grad)*grad)
		root := float32(math.Sqrt(float64(v[i] * p.Correct2)))
		w[i] = weight - float32(float32(p.LR*float32(m[i]*p.Correct1))/(root+p.Epsilon))
	}
}

func adamWGeneric(w, g, m, v []float32, p *AdamStep) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	for i, weight := range w {
		grad := g[i]
		m[i] = float32(p.Beta1*m[i]) + float32(p.Rest1*grad)
		v[i] = float32(p.Beta2*v[i]) + float32(float32(p.Rest2*grad)*grad)
		root := float32(math.Sqrt(float64(v[i] * p.Correct2)))
		step := float32(m[i]*p.Correct1)/(root+p.Epsilon) + float32(p.Decay*weight)
		w[i] = weight - float32(p.LR*step)
	}
}

func approachGeneric(dst, src []float32, share float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] += float32(share * (v - dst[i]))
	}
}
