package ref

import "math"

// SGD updates w and m in place: g' = g + decay·w; m = momentum·m + g'; w = w - lr·m. With lr 0 nothing
// changes.
func SGD(w, g, m []float64, lr, decay, momentum float64) {
	if lr == 0 {
		return
	}
	for i := range w {
		m[i] = momentum*m[i] + (g[i] + decay*w[i])
		w[i] -= lr * m[i]
	}
}

// Adam updates w, m and v in place (Kingma and Ba, 2015, algorithm 1, with coupled decay):
// w = w - lr · (m/(1-β1^step)) / (sqrt(v/(1-β2^step)) + ε). With lr 0 nothing changes.
func Adam(w, g, m, v []float64, lr, decay, beta1, beta2, epsilon float64, step int) {
	if lr == 0 {
		return
	}
	for i := range w {
		d := g[i] + decay*w[i]
		m[i] = beta1*m[i] + (1-beta1)*d
		v[i] = beta2*v[i] + (1-beta2)*d*d
		mean := m[i] / (1 - math.Pow(beta1, float64(step)))
		variance := v[i] / (1 - math.Pow(beta2, float64(step)))
		w[i] -= lr * mean / (math.Sqrt(variance) + epsilon)
	}
}

// AdamW is Adam with decoupled decay (Loshchilov and Hutter, 2019, algorithm 2, with the learning rate as the
// schedule): w = w - lr·decay·w before the step, separate from the gradient.
func AdamW(w, g, m, v []float64, lr, decay, beta1, beta2, epsilon float64, step int) {
	for i := range w {
		w[i] -= lr * decay * w[i]
	}
	Adam(w, g, m, v, lr, 0, beta1, beta2, epsilon, step)
}

// Average is the exponential moving average: average = decay·average + (1-decay)·w.
func Average(average, w []float64, decay float64) {
	for i := range w {
		average[i] = decay*average[i] + (1-decay)*w[i]
	}
}

// Norm is the Euclidean norm of all gradients together.
func Norm(gradients ...[]float64) float64 {
	sum := 0.0
	for _, g := range gradients {
		for _, v := range g {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// Clip is g·limit/norm where norm > limit, else g.
func Clip(g []float64, norm, limit float64) []float64 {
	out := make([]float64, len(g))
	for i, v := range g {
		out[i] = v
		if norm > limit {
			out[i] = v * limit / norm
		}
	}
	return out
}
