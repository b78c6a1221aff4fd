package rates

import "math"

// Solve returns x of H x = g by Cholesky's decomposition of a symmetric, positive definite H with len(g) rows. It reads
// the lower triangle of H. H and g are overwritten, and x lies in g.
func Solve(h, g []float64) []float64 {
	n := len(g)
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
		for k := range i {
			g[i] -= h[i*n+k] * g[k]
		}
		g[i] /= h[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			g[i] -= h[k*n+i] * g[k]
		}
		g[i] /= h[i*n+i]
	}
	return g
}
