package ref

// Conv is the shape of a cross-correlation: x is N×H×W×C, w is K×R×S×C, b is K, y is N×P×Q×K, Pad zeros
// surround x. A Stride of 0 means 1.
type Conv struct{ N, H, W, C, K, R, S, Pad, Stride int }

func (g Conv) step() int { return max(1, g.Stride) }

// P is the number of rows of the output.
func (g Conv) P() int { return (g.H+2*g.Pad-g.R)/g.step() + 1 }

// Q is the number of columns of the output.
func (g Conv) Q() int { return (g.W+2*g.Pad-g.S)/g.step() + 1 }

func (g Conv) inside(h, w int) bool { return h >= 0 && h < g.H && w >= 0 && w < g.W }

// ForwardAt is y[n,p,q,k] = b[k] + sum over r,s,c of x[n, p·Stride+r-Pad, q·Stride+s-Pad, c] · w[k,r,s,c];
// a nil b is 0.
func (g Conv) ForwardAt(x, w, b []float64, n, p, q, k int) float64 {
	sum := 0.0
	if b != nil {
		sum = b[k]
	}
	for r := range g.R {
		for s := range g.S {
			row, column := p*g.step()+r-g.Pad, q*g.step()+s-g.Pad
			if !g.inside(row, column) {
				continue
			}
			filter := w[index4(g.R, g.S, g.C, k, r, s, 0):][:g.C]
			for c, v := range x[index4(g.H, g.W, g.C, n, row, column, 0):][:g.C] {
				sum += v * filter[c]
			}
		}
	}
	return sum
}

// GradDataAt is dx[n,h,w,c] = sum over r,s,k of dy[n, (h-r+Pad)/Stride, (w-s+Pad)/Stride, k] · w[k,r,s,c],
// over the r and s for which Stride divides.
func (g Conv) GradDataAt(dy, w []float64, n, row, column, c int) float64 {
	sum, rows, columns := 0.0, g.P(), g.Q()
	for r := range g.R {
		for s := range g.S {
			p, q := row-r+g.Pad, column-s+g.Pad
			if p%g.step() != 0 || q%g.step() != 0 {
				continue
			}
			p, q = p/g.step(), q/g.step()
			if p < 0 || p >= rows || q < 0 || q >= columns {
				continue
			}
			for k, v := range dy[index4(rows, columns, g.K, n, p, q, 0):][:g.K] {
				sum += v * w[index4(g.R, g.S, g.C, k, r, s, c)]
			}
		}
	}
	return sum
}

// GradFilterAt is dw[k,r,s,c] = sum over n,p,q of dy[n,p,q,k] · x[n, p·Stride+r-Pad, q·Stride+s-Pad, c].
func (g Conv) GradFilterAt(x, dy []float64, k, r, s, c int) float64 {
	sum, rows, columns := 0.0, g.P(), g.Q()
	for n := range g.N {
		for p := range rows {
			for q := range columns {
				if row, column := p*g.step()+r-g.Pad, q*g.step()+s-g.Pad; g.inside(row, column) {
					sum += dy[index4(rows, columns, g.K, n, p, q, k)] * x[index4(g.H, g.W, g.C, n, row, column, c)]
				}
			}
		}
	}
	return sum
}

// Forward is ForwardAt for all of y.
func (g Conv) Forward(x, w, b []float64) []float64 {
	return all(g.N, g.P(), g.Q(), g.K, func(n, p, q, k int) float64 { return g.ForwardAt(x, w, b, n, p, q, k) })
}

// GradData is GradDataAt for all of dx.
func (g Conv) GradData(dy, w []float64) []float64 {
	return all(g.N, g.H, g.W, g.C, func(n, h, v, c int) float64 { return g.GradDataAt(dy, w, n, h, v, c) })
}

// GradFilter is GradFilterAt for all of dw.
func (g Conv) GradFilter(x, dy []float64) []float64 {
	return all(g.K, g.R, g.S, g.C, func(k, r, s, c int) float64 { return g.GradFilterAt(x, dy, k, r, s, c) })
}

// GradBias is db[k] = sum over n,p,q of dy[n,p,q,k].
func (g Conv) GradBias(dy []float64) []float64 {
	db := make([]float64, g.K)
	for i, v := range dy {
		db[i%g.K] += v
	}
	return db
}

// GradDataBias is GradData, 0 where mask, which may be nil, is at most 0, and the sums of that over n, h and w.
func (g Conv) GradDataBias(dy, w, mask []float64) (dx, db []float64) {
	dx, db = g.GradData(dy, w), make([]float64, g.C)
	for i := range dx {
		if mask != nil && mask[i] <= 0 {
			dx[i] = 0
		}
		db[i%g.C] += dx[i]
	}
	return dx, db
}

// all evaluates f at every index of an a×b×c×d array.
func all(a, b, c, d int, f func(i, j, k, l int) float64) []float64 {
	out := make([]float64, 0, a*b*c*d)
	for i := range a {
		for j := range b {
			for k := range c {
				for l := range d {
					out = append(out, f(i, j, k, l))
				}
			}
		}
	}
	return out
}
