package rates

import "math"

// Cholesky returns the lower factor L of a symmetric, positive definite H = L L' with n rows. It reads the lower
// triangle of H, and L lies there.
func Cholesky(h []float64, n int) []float64 {
	for i := range n {
		for j := range i + 1 {
			sum := h[i*n+j]
			for k := range j {
				sum -= h[i*n+k] * h[j*n+k]
			}
			if i == j {
				h[i*n+i] = math.Sqrt(max(sum, 1e-300))
			} else {
				h[i*n+j] = sum / h[j*n+j]
			}
		}
	}
	return h
}

// Forward returns x of L x = g for the lower factor L. g is overwritten, and x lies in g.
func Forward(l, g []float64) []float64 {
	n := len(g)
	for i := range n {
		for k, v := range l[i*n : i*n+i] {
			g[i] -= v * g[k]
		}
		g[i] /= l[i*n+i]
	}
	return g
}

// Solve returns x of H x = g by Cholesky's decomposition of a symmetric, positive definite H with len(g) rows. It reads
// the lower triangle of H. H and g are overwritten, and x lies in g.
func Solve(h, g []float64) []float64 {
	n := len(g)
	l := Cholesky(h, n)
	Forward(l, g)
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			g[i] -= l[k*n+i] * g[k]
		}
		g[i] /= l[i*n+i]
	}
	return g
}
