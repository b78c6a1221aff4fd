package rates

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
)

// H x = g holds for a positive H of any size; the upper triangle of H is not read.
func TestSolve_ReadsTheLowerTriangle(t *testing.T) {
	s := rng.New(4)
	for n := 1; n <= 9; n++ {
		h, want, g := make([]float64, n*n), make([]float64, n), make([]float64, n)
		for i := range n {
			want[i] = s.Normal(0, 3)
			for j := range i {
				h[i*n+j] = s.Normal(0, 1)
				h[j*n+i] = h[i*n+j]
			}
			h[i*n+i] = 2 * float64(n+1) // more than the others of its row
		}
		for i := range n {
			for j := range n {
				g[i] += h[i*n+j] * want[j]
			}
		}
		for i := range n {
			for j := range i {
				h[j*n+i] = math.NaN()
			}
		}
		x := Solve(h, g)
		if slices.ContainsFunc(x, math.IsNaN) {
			t.Fatalf("%d unknowns: %v", n, x)
		}
		for i := range x {
			if math.Abs(x[i]-want[i]) > 1e-9 {
				t.Errorf("%d unknowns: %v, want %v", n, x, want)
				break
			}
		}
	}
}
