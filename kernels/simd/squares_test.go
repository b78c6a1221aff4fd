package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestSumSquares_IsExactToTheLastDigits(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range append([]int{1000, 16384}, sizes...) {
			x := random(t, r, n)
			want := new(big.Float).SetPrec(200)
			for i := range x {
				x[i] *= float32(math.Exp(4 * r.NormFloat64()))
				square := big.NewFloat(float64(x[i]))
				want.Add(want, square.Mul(square, square))
			}
			exact, _ := want.Float64()
			if got := l.SumSquares(x); !(math.Abs(got-exact) <= 1e-14*exact) {
				t.Errorf("%d values: %v, want %v", n, got, exact)
			}
			if got, twin := l.SumSquares(x), Generic.SumSquares(x); got != twin {
				t.Errorf("%d values: %v, the Go twin %v", n, got, twin)
			}
		}
	})
}

func TestSumSquares_IsNotFiniteWhereAValueIsNot(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, at := range []int{0, 7, 8, 30} {
			for _, v := range []float32{nan, inf, -inf} {
				x := random(t, r, 31)
				x[at] = v
				if got := l.SumSquares(x); !math.IsNaN(got) && !math.IsInf(got, 1) {
					t.Errorf("%g at %d: %v", v, at, got)
				}
			}
		}
	})
}

// BenchmarkSumSquares measures one thread on a block of the gradient norm.
func BenchmarkSumSquares(b *testing.B) {
	for _, l := range Levels() {
		b.Run(fmt.Sprintf("values=16384/simd=%s", l), func(b *testing.B) {
			x := make([]float32, 16384)
			b.SetBytes(4 * 16384)
			sum := 0.0
			for b.Loop() {
				sum += l.SumSquares(x)
			}
			if sum != 0 {
				b.Fatal(sum)
			}
		})
	}
}
