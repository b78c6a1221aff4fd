package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// drawn returns values. Some are equal to others, zero, infinite or NaN.
func drawn(t testing.TB, r *rand.Rand, n int) []float32 {
	v := fenced(t, n)
	for i := range v {
		switch v[i] = float32(r.IntN(9)-4) / 2; r.IntN(20) {
		case 0:
			v[i] = nan
		case 1:
			v[i] = inf
		case 2:
			v[i] = -inf
		}
	}
	return v
}

func copies(t testing.TB, arrays ...[]float32) [][]float32 {
	out := make([][]float32, len(arrays))
	for i, a := range arrays {
		out[i] = fenced(t, len(a))
		copy(out[i], a)
	}
	return out
}

// same compares bits, except for the payload of NaN and the sign of zero.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if got[i] != v && (got[i] == got[i] || v == v) {
			t.Fatalf("%s: element %d of %d: got %g, want %g", what, i, len(want), got[i], v)
		}
	}
}

// TestElementwise_EveryLevelAsTheGoTwin compares each level with the Go twin, including NaN and infinities.
// The compliance suite judges the twins.
func TestElementwise_EveryLevelAsTheGoTwin(t *testing.T) {
	adamStep := AdamStep{LR: .01, Decay: .1, Beta1: .9, Rest1: .1, Correct1: 1.5, Beta2: .99, Rest2: .01, Correct2: 2,
		Epsilon: 1e-3}
	operations := map[string]func(l Level, a [][]float32){
		"scale":     func(l Level, a [][]float32) { l.Scale(a[0], 1.7) },
		"addScaled": func(l Level, a [][]float32) { l.AddScaled(a[0], a[1], .3) },
		"relu":      func(l Level, a [][]float32) { l.ReLU(a[0], a[1]) },
		"reluGrad":  func(l Level, a [][]float32) { l.ReLUGrad(a[0], a[1], a[2]) },
		"max":       func(l Level, a [][]float32) { l.MaxOfFour(a[0], a[1], a[2], a[3], a[4]) },
		"sgd":       func(l Level, a [][]float32) { l.SGD(a[0], a[1], a[2], .1, .9, .01) },
		"adam": func(l Level, a [][]float32) {
			for i, v := range a[3] {
				a[3][i] = v * v
			}
			l.Adam(a[0], a[1], a[2], a[3], &adamStep)
		},
		"adamW": func(l Level, a [][]float32) {
			for i, v := range a[3] {
				a[3][i] = v * v
			}
			l.AdamW(a[0], a[1], a[2], a[3], &adamStep)
		},
		"approach":    func(l Level, a [][]float32) { l.Approach(a[0], a[1], .3) },
		"scatter":     func(l Level, a [][]float32) { scatterOf(l, a, false) },
		"scatterReLU": func(l Level, a [][]float32) { scatterOf(l, a, true) },
	}
	asTwins(t, false, operations)
}

// asTwins compares operations on nine arrays at each level with the Go twin. With wide, the values have every
// magnitude.
func asTwins(t *testing.T, wide bool, operations map[string]func(l Level, a [][]float32)) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range sizes {
			for name, f := range operations {
				want := make([][]float32, 9)
				for i := range want {
					want[i] = drawn(t, r, n)
					for j := range want[i] {
						if wide {
							want[i][j] *= float32(math.Exp(8 * (r.Float64() - .5)))
						}
					}
				}
				got := copies(t, want...)
				f(Generic, want)
				f(l, got)
				for i := range want {
					same(t, name, got[i], want[i])
				}
			}
		}
	})
}

func scatterOf(l Level, a [][]float32, relu bool) {
	l.MaxOfFour(a[7], a[4], a[5], a[6], a[3])
	l.ScatterMax(&Scatter{D: [4][]float32{a[0], a[1], a[2], a[3]}, X: [3][]float32{a[4], a[5], a[6]}, Top: a[7],
		Grad: a[8], ReLU: relu}, len(a[0]))
}

func TestReLU_KeepsNaNAndNotMinusZero(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		x := []float32{-1, 0, float32(math.Copysign(0, -1)), 2, nan, inf, -inf}
		l.ReLU(x, x)
		same(t, "relu", x, []float32{0, 0, 0, 2, nan, inf, 0})
		if math.Signbit(float64(x[2])) {
			t.Error("-0 stays")
		}
		y := []float32{-1, 0, 1, nan, inf}
		grad := []float32{5, 6, nan, 8, 9}
		l.ReLUGrad(grad, grad, y)
		same(t, "gradient", grad, []float32{0, 0, nan, 0, 9})
	})
}

func TestElementwise_RefuseSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		long, short := make([]float32, 9), make([]float32, 8)
		refuses(t, map[string]func(){
			"addScaled": func() { l.AddScaled(long, short, 1) },
			"relu":      func() { l.ReLU(long, short) },
			"reluGrad":  func() { l.ReLUGrad(long, long, short) },
			"max":       func() { l.MaxOfFour(long, long, long, long, short) },
			"scatter":   func() { l.ScatterMax(&Scatter{}, 1) },
			"sgd":       func() { l.SGD(long, long, short, 1, 1, 1) },
			"adam":      func() { l.Adam(long, long, long, short, &AdamStep{}) },
			"adamW":     func() { l.AdamW(long, long, long, short, &AdamStep{}) },
			"approach":  func() { l.Approach(long, short, 1) },
		})
	})
}
