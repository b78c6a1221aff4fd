package ref

import "math"

// LSTM is the shape of a layer: T steps of N sequences with H hidden units.
type LSTM struct{ T, N, H int }

// gate is the place of gate k (0 i, 1 f, 2 g, 3 o) of unit j in T×N×4H.
func (l LSTM) gate(t, n, k, j int) int { return index4(l.N, 4, l.H, t, n, k, j) }

// Forward runs the layer from projected inputs T×N×4H. h0 and c0 are nil for 0.
//
//	a[t] = projected[t] + Wh h[t-1]
//	c[t] = sigmoid(a_f) c[t-1] + sigmoid(a_i) tanh(a_g)
//	h[t] = sigmoid(a_o) tanh(c[t])
//
// gates are the sigmoids and the tanh.
func (l LSTM) Forward(projected, wh, h0, c0 []float64) (h, c, gates []float64) {
	h, c, gates = make([]float64, l.T*l.N*l.H), make([]float64, l.T*l.N*l.H), make([]float64, len(projected))
	for t := range l.T {
		for n := range l.N {
			for j := range l.H {
				for k := range 4 {
					a := projected[l.gate(t, n, k, j)]
					for e := range l.H {
						a += wh[(k*l.H+j)*l.H+e] * l.before(h, h0, t, n, e)
					}
					if k == 2 {
						gates[l.gate(t, n, k, j)] = math.Tanh(a)
					} else {
						gates[l.gate(t, n, k, j)] = Sigmoid(a)
					}
				}
				i, f, g, o := l.gates(gates, t, n, j)
				at := (t*l.N+n)*l.H + j
				c[at] = f*l.before(c, c0, t, n, j) + i*g
				h[at] = o * math.Tanh(c[at])
			}
		}
	}
	return h, c, gates
}

// before is unit j of sequence n one step before t.
func (l LSTM) before(x, first []float64, t, n, j int) float64 {
	switch {
	case t > 0:
		return x[((t-1)*l.N+n)*l.H+j]
	case first != nil:
		return first[n*l.H+j]
	}
	return 0
}

func (l LSTM) gates(gates []float64, t, n, j int) (i, f, g, o float64) {
	return gates[l.gate(t, n, 0, j)], gates[l.gate(t, n, 1, j)], gates[l.gate(t, n, 2, j)], gates[l.gate(t, n, 3, j)]
}

// Backward gives the gradients of the pre-activations a, of h0 and of c0, from the gradients of every h and
// of the last c (nil for 0) and from the results of Forward.
func (l LSTM) Backward(gates, dh, c, wh, c0, dcLast []float64) (da, dh0, dc0 []float64) {
	da = make([]float64, len(gates))
	carriedH, carriedC := make([]float64, l.N*l.H), make([]float64, l.N*l.H)
	copy(carriedC, dcLast)
	for t := l.T - 1; t >= 0; t-- {
		for n := range l.N {
			for j := range l.H {
				i, f, g, o := l.gates(gates, t, n, j)
				at, state := (t*l.N+n)*l.H+j, n*l.H+j
				dhTotal, tanh := dh[at]+carriedH[state], math.Tanh(c[at])
				dc := carriedC[state] + dhTotal*o*(1-tanh*tanh)
				da[l.gate(t, n, 0, j)] = dc * g * i * (1 - i)
				da[l.gate(t, n, 1, j)] = dc * l.before(c, c0, t, n, j) * f * (1 - f)
				da[l.gate(t, n, 2, j)] = dc * i * (1 - g*g)
				da[l.gate(t, n, 3, j)] = dhTotal * tanh * o * (1 - o)
				carriedC[state] = dc * f
			}
		}
		for n := range l.N {
			for e := range l.H {
				sum := 0.0
				for row := range 4 * l.H {
					sum += da[(t*l.N+n)*4*l.H+row] * wh[row*l.H+e]
				}
				carriedH[n*l.H+e] = sum
			}
		}
	}
	return da, carriedH, carriedC
}

// Embed looks words up in a table of rows of d numbers. A negative word gives 0.
func Embed(table []float64, words []int32, d int) []float64 {
	y := make([]float64, len(words)*d)
	for m, word := range words {
		if word >= 0 {
			copy(y[m*d:(m+1)*d], table[int(word)*d:])
		}
	}
	return y
}

// EmbedGrad is the gradient of Embed with respect to a table of v rows.
func EmbedGrad(dy []float64, words []int32, v, d int) []float64 {
	dtable := make([]float64, v*d)
	for m, word := range words {
		for j := range d {
			if word >= 0 {
				dtable[int(word)*d+j] += dy[m*d+j]
			}
		}
	}
	return dtable
}

// LogSoftmax is x less the logarithm of the sum of exponentials, for each row of v numbers.
func LogSoftmax(x []float64, v int) []float64 {
	out := make([]float64, len(x))
	for from := 0; from < len(x); from += v {
		norm := math.Inf(-1)
		for _, value := range x[from : from+v] {
			norm = logAddExp(norm, value)
		}
		for i, value := range x[from : from+v] {
			out[from+i] = value - norm
		}
	}
	return out
}

// Entropy is the shape of a softmax over V words of M rows of D numbers.
type Entropy struct{ M, V, D int }

// logSoftmax is the logarithm of row m's softmax.
func (e Entropy) logSoftmax(h, w, b []float64, m int) []float64 {
	logits := make([]float64, e.V)
	for v := range logits {
		logits[v] = b[v] + Dot(h[m*e.D:(m+1)*e.D], w[v*e.D:])
	}
	return LogSoftmax(logits, e.V)
}

// Losses are -log p(target) of each row; 0 without a target.
func (e Entropy) Losses(h, w, b []float64, targets []int32) []float64 {
	losses := make([]float64, e.M)
	for m, target := range targets {
		if target >= 0 {
			losses[m] = -e.logSoftmax(h, w, b, m)[target]
		}
	}
	return losses
}

// Gradients are the gradients of scale times the sum of the losses.
func (e Entropy) Gradients(h, w, b []float64, targets []int32, scale float64) (dh, dw, db []float64) {
	dh, dw, db = make([]float64, e.M*e.D), make([]float64, e.V*e.D), make([]float64, e.V)
	for m, target := range targets {
		if target < 0 {
			continue
		}
		for v, logP := range e.logSoftmax(h, w, b, m) {
			dl := scale * math.Exp(logP)
			if v == int(target) {
				dl = scale * math.Expm1(logP)
			}
			db[v] += dl
			for j := range e.D {
				dh[m*e.D+j] += dl * w[v*e.D+j]
				dw[v*e.D+j] += dl * h[m*e.D+j]
			}
		}
	}
	return dh, dw, db
}
