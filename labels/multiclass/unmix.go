package multiclass

import (
	"math"
	"slices"
)

// leastUnmixed is the least probability of a class where scores are taken apart: what is left of it is their error.
const leastUnmixed = 1e-3

// unmixLimit is the most multiplications for taking the scores of all rows apart.
const unmixLimit = 50e9

// unmixed is the model for a classifier that has learned the noise by heart, whose scores are p(z|x): with p̂ the
// scores of a row, p(y|x) is calibrated from u, the solution of sum over y of T_yz u_y = p̂_z. It is nil where T has
// no inverse to speak of, or where there are too many classes.
func (m *Model) unmixed(rows int) *Model {
	if float64(rows)*float64(m.Classes)*float64(m.Classes) > unmixLimit {
		return nil
	}
	inverse := inverted(m.T, m.Classes)
	if inverse == nil {
		return nil
	}
	out := *m
	out.Inverse, out.A, out.B = make([]float32, len(inverse)), 1, make([]float64, m.Classes)
	for i, v := range inverse {
		out.Inverse[i] = float32(v)
	}
	return &out
}

// inverted is the inverse of a matrix by elimination with the largest pivots; nil where it is singular.
func inverted(a []float64, n int) []float64 {
	a, out := slices.Clone(a), make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r*n+c]) > math.Abs(a[pivot*n+c]) {
				pivot = r
			}
		}
		if math.Abs(a[pivot*n+c]) < 1e-3 {
			return nil
		}
		for j := range n {
			a[c*n+j], a[pivot*n+j] = a[pivot*n+j], a[c*n+j]
			out[c*n+j], out[pivot*n+j] = out[pivot*n+j], out[c*n+j]
		}
		scale := 1 / a[c*n+c]
		for j := range n {
			a[c*n+j] *= scale
			out[c*n+j] *= scale
		}
		for r := range n {
			factor := a[r*n+c]
			if r == c || factor == 0 {
				continue
			}
			for j := range n {
				a[r*n+j] -= factor * a[c*n+j]
				out[r*n+j] -= factor * out[c*n+j]
			}
		}
	}
	return out
}
