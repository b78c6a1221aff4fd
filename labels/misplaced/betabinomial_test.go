package misplaced

import (
	"math"
	"testing"
)

// Probabilities equal the definition by beta functions, and the search ends at the greatest likelihood.
func TestBetaBinomial_IsTheEquation(t *testing.T) {
	b := newBetaBinomial(20)
	cells := [][3]int{{1, 1, 7}, {2, 1, 30}, {2, 2, 11}, {5, 1, 20}, {5, 3, 9}, {5, 5, 2}, {20, 1, 4}, {20, 13, 3}}
	gamma := func(x float64) float64 { l, _ := math.Lgamma(x); return l }
	beta := func(x, y float64) float64 { return gamma(x) + gamma(y) - gamma(x+y) }
	sum := func(log func(n, m int) float64) float64 {
		sum := 0.0
		for _, c := range cells {
			sum += float64(c[2]) * log(c[0], c[1])
		}
		return sum
	}
	greatest := math.Inf(-1)
	for mean := -5.0; mean <= 4; mean += .1 {
		for spread := -5.0; spread <= 4; spread += .1 {
			m, s := sigmoid(mean), sigmoid(spread)
			x, y := m*(1-s)/s, (1-m)*(1-s)/s
			want := sum(func(n, k int) float64 {
				choose := gamma(float64(n+1)) - gamma(float64(k+1)) - gamma(float64(n-k+1))
				return choose + beta(float64(k)+x, float64(n-k)+y) - beta(x, y)
			})
			b.set(m, s)
			if got := sum(b.log); !(math.Abs(got-want) < 1e-6*(1+math.Abs(want))) {
				t.Fatalf("mean %g, spread %g: likelihood %g, want %g", m, s, got, want)
			}
			greatest = max(greatest, want)
		}
	}
	b.fit(func() float64 { return sum(b.log) })
	if got := sum(b.log); got < greatest-.01 {
		t.Errorf("the search ends with %g, and the greatest is %g", got, greatest)
	}
}
