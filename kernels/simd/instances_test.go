package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// fenced64 is fenced for float64.
func fenced64(t testing.TB, n int) []float64 {
	floats := fenced(t, 2*n)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&floats[0])), n)
}

func roundedUp(width int) int { return (width + sumLanes - 1) / sumLanes * sumLanes }

// The documented bound, over the whole range in steps that fall on no grid of the table.
func TestExpNegative_WithinDocumentedError(t *testing.T) {
	const bound = 5e-9
	worst, at := 0.0, 0.0
	for x := 0.0; x > expLowest; x -= 0.000917 {
		if e := math.Abs(ExpNegative(x)/math.Exp(x) - 1); !(e <= worst) {
			worst, at = e, x
		}
	}
	t.Logf("largest relative error %.2g at %g: %.3f float32 rounding errors", worst, at, worst*(1<<24))
	if !(worst <= bound) {
		t.Errorf("relative error %g at %g, want at most %g", worst, at, bound)
	}
}

func TestExpNegative_Ends(t *testing.T) {
	if got := ExpNegative(0); got != 1 {
		t.Errorf("exp(0) = %v", got)
	}
	for _, x := range []float64{-709, -1e4, math.Inf(-1)} {
		if got := ExpNegative(x); !(got >= 0 && got < 1e-307) {
			t.Errorf("exp(%g) = %v, want below 1e-307", x, got)
		}
	}
	if got := ExpNegative(math.NaN()); !math.IsNaN(got) {
		t.Errorf("exp(NaN) = %v", got)
	}
}

// One row from sums of 0 gives the exponential itself as the excess.
func TestSumSoftplus_ExponentialWithinDocumentedError(t *testing.T) {
	const bound, width = 5e-9, 800
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		s := Softplus{Logits: make([]float32, width), Sigmoid: make([]float32, width), Rows: 1, Width: width,
			Positive: make([]float64, width), Excess: make([]float64, width)}
		worst := 0.0
		for step := range 1000 {
			for i := range width {
				s.Logits[i] = float32(float64(i-width/2)*1.7703 + float64(step)*.00177)
			}
			clear(s.Positive)
			clear(s.Excess)
			l.SumSoftplus(&s)
			for i, o := range s.Logits {
				v := float64(o)
				if math.Abs(v) > -expLowest {
					continue
				}
				e := math.Abs(s.Excess[i]/math.Exp(-math.Abs(v)) - 1)
				p := math.Exp(min(v, 0)) / (1 + math.Exp(-math.Abs(v)))
				worst = max(worst, e)
				if !(e <= bound) || s.Positive[i] != max(v, 0) || !(math.Abs(float64(s.Sigmoid[i])-p) <= 2e-7*p+1e-44) {
					t.Fatalf("logit %g: exponential %g, positive %g, sigmoid %g", o, s.Excess[i], s.Positive[i], s.Sigmoid[i])
				}
			}
		}
		t.Logf("largest relative error %.2g", worst)
	})
}

func TestSumSoftplus_IsTheSumOverRows(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, width := range sizes {
			for _, rows := range []int{0, 1, 2, 5, 30} {
				for _, keep := range []bool{false, true} {
					stride := width + 3
					s := Softplus{Logits: random(t, r, max(0, (rows-1)*stride+width)), Stride: stride, Rows: rows, Width: width,
						Positive: fenced64(t, roundedUp(width)), Excess: fenced64(t, roundedUp(width))}
					for i := range s.Logits {
						s.Logits[i] *= 5
					}
					if keep {
						s.Sigmoid = random(t, r, len(s.Logits))
					}
					checkSoftplus(t, l, &s)
				}
			}
		}
	})
}

func checkSoftplus(t *testing.T, l Level, s *Softplus) {
	t.Helper()
	before := append([]float32(nil), s.Sigmoid...)
	l.SumSoftplus(s)
	for k := range s.Width {
		want := 0.0
		for i := range s.Rows {
			want += math.Log1p(math.Exp(float64(s.Logits[i*s.Stride+k])))
		}
		if got := s.Positive[k] + math.Log1p(s.Excess[k]); !(math.Abs(got-want) <= 1e-8*want) {
			t.Fatalf("%d×%d, column %d: %g, want %g", s.Rows, s.Width, k, got, want)
		}
	}
	for at, got := range s.Sigmoid {
		if at%s.Stride >= s.Width {
			if got != before[at] {
				t.Fatalf("wrote between rows at %d", at)
			}
			continue
		}
		if want := 1 / (1 + math.Exp(-float64(s.Logits[at]))); !(math.Abs(float64(got)-want) <= 2e-7*want) {
			t.Fatalf("sigmoid of %g is %g, want %g", s.Logits[at], got, want)
		}
	}
}

func TestSumSoftplus_NaNAndInfinitiesStayInTheirColumns(t *testing.T) {
	negativeNaN := math.Float32frombits(math.Float32bits(nan) | 1<<31)
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		s := Softplus{Logits: []float32{nan, 1, negativeNaN, inf, -inf, 1e4, -1e4, 0, 0, nan}, Stride: 5, Rows: 2, Width: 5,
			Sigmoid: make([]float32, 10), Positive: make([]float64, 8), Excess: make([]float64, 8)}
		l.SumSoftplus(&s)
		for k, wantNaN := range []bool{true, false, true, false, true} {
			if got := math.IsNaN(s.Positive[k]) && math.IsNaN(s.Excess[k]); got != wantNaN || math.IsNaN(s.Positive[k]) != got {
				t.Errorf("column %d: positive %g, excess %g", k, s.Positive[k], s.Excess[k])
			}
		}
		same(t, "sigmoid", s.Sigmoid, []float32{nan, s.Sigmoid[1], nan, 1, 0, 1, 0, .5, .5, nan})
	})
}

func TestSumRows64_AddsInOrderWithoutLoss(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, width := range sizes {
			for _, rows := range []int{0, 1, 2, 7} {
				src, dst := random(t, r, max(0, (rows-1)*(width+1)+width)), fenced64(t, roundedUp(width))
				want := make([]float64, width)
				for i := range want {
					dst[i] = float64(i) / 3
					want[i] = dst[i]
					for row := range rows {
						want[i] += float64(src[row*(width+1)+i])
					}
				}
				l.SumRows64(dst, src, width+1, rows, width)
				for i, v := range want {
					if dst[i] != v {
						t.Fatalf("%d×%d: sum %d is %v, want %v", rows, width, i, dst[i], v)
					}
				}
			}
		}
	})
}

func TestScaleRows_MultipliesRowsAndNothingElse(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, width := range sizes {
			for _, rows := range []int{0, 1, 3} {
				stride := width + 2
				dst, factors := random(t, r, max(0, (rows-1)*stride+width)), random(t, r, width)
				want := append([]float32(nil), dst...)
				for i := range want {
					if i%stride < width {
						want[i] *= factors[i%stride]
					}
				}
				l.ScaleRows(dst, stride, rows, factors)
				equal(t, dst, want)
			}
		}
	})
}

func TestInstances_RefuseSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		floats, sums := make([]float32, 18), make([]float64, 16)
		good := Softplus{Logits: floats, Sigmoid: floats, Stride: 9, Rows: 2, Width: 9, Positive: sums, Excess: sums}
		refusesChanged(t, func() Softplus { return good }, l.SumSoftplus, map[string]func(*Softplus){
			"logits": func(s *Softplus) { s.Logits = floats[1:] }, "sigmoid": func(s *Softplus) { s.Sigmoid = floats[1:] },
			"positive": func(s *Softplus) { s.Positive = sums[1:] }, "excess": func(s *Softplus) { s.Excess = sums[1:] },
			"stride": func(s *Softplus) { s.Stride = -1 },
		})
		refuses(t, map[string]func(){
			"sum from": func() { l.SumRows64(sums, floats[1:], 9, 2, 9) },
			"sum to":   func() { l.SumRows64(sums[1:], floats, 9, 2, 9) },
			"scale":    func() { l.ScaleRows(floats[1:], 9, 2, floats[:9]) },
		})
	})
}

// BenchmarkSumSoftplus measures one thread on rows that stay in the second-level cache.
func BenchmarkSumSoftplus(b *testing.B) {
	for _, l := range Levels() {
		for _, width := range []int{64, 36} {
			b.Run(fmt.Sprintf("width=%d/simd=%s", width, l), func(b *testing.B) {
				const rows = 500
				s := Softplus{Logits: make([]float32, rows*width), Sigmoid: make([]float32, rows*width), Stride: width, Rows: rows,
					Width:    width,
					Positive: make([]float64, roundedUp(width)), Excess: make([]float64, roundedUp(width))}
				for i := range s.Logits {
					s.Logits[i] = float32(i%13) - 6
				}
				for b.Loop() {
					clear(s.Excess)
					l.SumSoftplus(&s)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*width), "ns/instance")
			})
		}
	}
}
