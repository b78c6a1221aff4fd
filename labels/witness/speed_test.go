package witness

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
)

func TestSorted_IsTheOrderOfNumbers(t *testing.T) {
	s := rng.New(1)
	for _, n := range []int{0, 1, 100, 70000, 200000} {
		values := make([]float64, n)
		for i := range values {
			values[i] = s.Normal(0, 1) * math.Exp(s.Normal(0, 5))
			if i%7 == 0 && i > 0 {
				values[i] = values[i-1]
			}
		}
		if n > 10 {
			values[3], values[5], values[9] = math.Inf(1), math.Inf(-1), math.MaxFloat64
		}
		want := slices.Clone(values)
		slices.Sort(want)
		if got := sorted(values); !slices.Equal(got, want) {
			t.Errorf("%d values are not in order", n)
		}
	}
}

func TestQuotients_AddLogarithms(t *testing.T) {
	s := rng.New(2)
	for _, n := range []int{0, 1, 7, 8, 16, 17, 1000} {
		q, l, want, wantL := newQuotients(), logSum{product: 1}, 0.0, 0.0
		for i := range n {
			a, b := math.Exp(s.Uniform(-80, 80)), 0.0
			b = a * math.Exp(s.Uniform(-40, 40))
			if i%5 == 0 { // the worst
				a, b = 1e36, 1e18
			}
			if b > 1e36 {
				b = 1e36
			}
			q.times(a, b)
			want += math.Log(a) - math.Log(b)
			f := math.Exp(s.Uniform(-20, 20))
			l.times(f)
			wantL += math.Log(f)
		}
		if got := q.log(); !(math.Abs(got-want) < 1e-9*float64(n+1)) {
			t.Errorf("%d quotients: %g, want %g", n, got, want)
		}
		if got := l.log(); !(math.Abs(got-wantL) < 1e-9*float64(n+1)) {
			t.Errorf("%d factors: %g, want %g", n, got, wantL)
		}
	}
}
