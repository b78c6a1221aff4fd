package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestTransformer_EveryLevelAsTheGoTwin(t *testing.T) {
	operations := map[string]func(l Level, a [][]float32){
		"sum":        func(l Level, a [][]float32) { l.Sum(a[0], a[1], a[2]) },
		"addProduct": func(l Level, a [][]float32) { l.AddProduct(a[0], a[1], a[2], a[3]) },
		"scaleTo":    func(l Level, a [][]float32) { l.ScaleTo(a[0], a[1], 1.7) },
		"standardize": func(l Level, a [][]float32) {
			l.Standardize(a[0], a[1], a[2], a[3], Standard{High: .3, Low: 1e-8, Inverse: 1.3})
		},
		"gelu":      func(l Level, a [][]float32) { l.GELU(a[0], a[1]) },
		"geluTanh":  func(l Level, a [][]float32) { l.GELUTanh(a[0], a[1]) },
		"geluQuick": func(l Level, a [][]float32) { l.GELUQuick(a[0], a[1]) },
	}
	asTwins(t, true, operations)
}

func TestMoments_AreThoseOfTheDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range sizes[1:] {
			for _, offset := range []float64{0, 1000, 1e6} {
				x := random(t, r, n)
				total := 0.0
				for i := range x {
					x[i] += float32(offset)
					total += float64(x[i])
				}
				want, squares := total/float64(n), 0.0
				for _, v := range x {
					squares += (float64(v) - want) * (float64(v) - want)
				}
				mean, variance := l.Moments(x)
				if math.Abs(mean-want) > 1e-14*(1+offset) || math.Abs(variance-squares/float64(n)) > 1e-12*(1+variance) {
					t.Errorf("%d values about %g: mean %v, want %v, variance %v, want %v", n, offset, mean, want, variance,
						squares/float64(n))
				}
				if m, v := Generic.Moments(x); m != mean || v != variance {
					t.Errorf("%d values: %v and %v, the Go twin %v and %v", n, mean, variance, m, v)
				}
			}
			equal := fenced(t, n)
			for i := range equal {
				equal[i] = 1234.567
			}
			if mean, variance := l.Moments(equal); mean != float64(equal[0]) || variance != 0 {
				t.Errorf("%d equal values: mean %v, variance %v", n, mean, variance)
			}
		}
		if mean, variance := l.Moments([]float32{1, nan, 3}); mean == mean || variance == variance {
			t.Errorf("NaN: mean %v, variance %v", mean, variance)
		}
	})
}

func TestGELU_IsGoodToAFewUnits(t *testing.T) {
	kinds := map[string]struct {
		of      func(x float32) float32
		want    func(x float64) float64
		allowed float64 // in units of 2^-24 of |x|
	}{
		"exact": {gelu, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, 4},
		"tanh": {func(x float32) float32 { return single(geluTanhGeneric, x) }, func(x float64) float64 {
			return x / (1 + math.Exp(-math.Sqrt(8/math.Pi)*(x+.044715*x*x*x)))
		}, 5},
		"quick": {func(x float32) float32 {
			return single(geluQuickGeneric, x)
		}, func(x float64) float64 { return x / (1 + math.Exp(-1.702*x)) }, 5},
	}
	for name, kind := range kinds {
		worst := 0.0
		for i := range 400_000 {
			size := float32(math.Exp(float64(i)/400_000*30 - 20)) // 2e-9 to 2e4
			for _, x := range []float32{size, -size} {
				off := math.Abs(float64(kind.of(x))-kind.want(float64(x))) / float64(size) * 0x1p24
				worst = max(worst, off)
				if !(off <= kind.allowed) {
					t.Fatalf("%s of %g is %g, want %g: off by %.3g units of 2^-24 of its argument", name, x, kind.of(x),
						kind.want(float64(x)), off)
				}
			}
		}
		t.Logf("%s: largest error %.3g units of 2^-24 of the argument", name, worst)
		for x, want := range map[float32]float32{0: 0, inf: inf, math.MaxFloat32: math.MaxFloat32, 1e4: 1e4} {
			if got := kind.of(x); got != want {
				t.Errorf("%s of %g is %g, want %g", name, x, got, want)
			}
		}
		for _, x := range []float32{-1e4, -math.MaxFloat32, -inf} {
			if got := kind.of(x); !(got <= 0 && got > -4e-7) {
				t.Errorf("%s of %g is %g, want 0 or as good as that", name, x, got)
			}
		}
		if got := kind.of(nan); got == got {
			t.Errorf("%s of NaN is %g", name, got)
		}
	}
}

// single is an operation on a single number.
func single(f func(dst, x []float32), x float32) float32 {
	y := []float32{0}
	f(y, []float32{x})
	return y[0]
}

// softmaxOf draws a softmax of this number of rows and lanes.
func softmaxOf(t testing.TB, r *rand.Rand, rows, lanes int) *Softmax {
	s := &Softmax{Stride: lanes + 5, Rows: rows, Top: fenced(t, lanes), Sum: fenced(t, lanes), Factor: fenced(t, lanes)}
	s.Block = fenced(t, max(0, (rows-1)*s.Stride+lanes))
	for i := range s.Block {
		s.Block[i] = float32(r.NormFloat64() * 30)
	}
	for i := range s.Top {
		s.Top[i] = -inf
	}
	return s
}

func TestSoftmax_EveryLevelAsTheGoTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, rows := range []int{0, 1, 2, 3, 17} {
			for _, lanes := range []int{0, 16, 48} {
				got := softmaxOf(t, r, rows, lanes)
				for i := range got.Block {
					if r.IntN(20) == 0 {
						got.Block[i] = []float32{nan, inf, -inf, 1e4, -1e4}[r.IntN(5)]
					}
				}
				c := copies(t, got.Block, got.Top, got.Sum, got.Factor)
				want := &Softmax{Block: c[0], Top: c[1], Sum: c[2], Factor: c[3], Stride: got.Stride, Rows: rows}
				for range 2 {
					l.Softmax(got)
					Generic.Softmax(want)
					same(t, "block", got.Block, want.Block)
					same(t, "top", got.Top, want.Top)
					same(t, "sum", got.Sum, want.Sum)
					same(t, "factor", got.Factor, want.Factor)
				}
			}
		}
	})
}

func TestTransformer_RefuseSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		long, short := make([]float32, 16), make([]float32, 15)
		refuses(t, map[string]func(){
			"sum":         func() { l.Sum(long, long, short) },
			"addProduct":  func() { l.AddProduct(long, long, long, short) },
			"scaleTo":     func() { l.ScaleTo(long, short, 1) },
			"standardize": func() { l.Standardize(long, long, short, long, Standard{}) },
			"gelu":        func() { l.GELU(long, short) },
			"geluTanh":    func() { l.GELUTanh(long, short) },
			"geluQuick":   func() { l.GELUQuick(long, short) },
			"lanes":       func() { l.Softmax(&Softmax{Block: long, Stride: 15, Rows: 1, Top: short, Sum: long, Factor: long}) },
			"softmax":     func() { l.Softmax(&Softmax{Block: short, Stride: 16, Rows: 1, Top: long, Sum: long, Factor: long}) },
			"factor":      func() { l.Softmax(&Softmax{Block: long, Stride: 16, Rows: 1, Top: long, Sum: long, Factor: short}) },
		})
	})
}

// BenchmarkTransformer measures one thread on data that stays in its cache.
func BenchmarkTransformer(b *testing.B) {
	const n = 6144
	x, y, gain := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(i%97)*.1 - 5
	}
	for _, l := range Levels() {
		for name, f := range map[string]func(){
			"gelu": func() { l.GELU(y, x) }, "geluTanh": func() { l.GELUTanh(y, x) }, "geluQuick": func() { l.GELUQuick(y, x) },
			"moments": func() { l.Moments(x) }, "standardize": func() { l.Standardize(y, x, gain, gain, Standard{}) },
			"softmax": func() {
				l.Softmax(&Softmax{Block: y, Stride: 48, Rows: n / 48, Top: x[:48], Sum: gain[:48], Factor: gain[48:96]})
			},
		} {
			b.Run(fmt.Sprintf("op=%s/simd=%s", name, l), func(b *testing.B) {
				b.SetBytes(4 * n)
				for b.Loop() {
					f()
				}
			})
		}
	}
}
