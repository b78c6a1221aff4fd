package simd

import (
	"math"
	"testing"
)

func TestGates_EveryLevelAsTheGoTwin(t *testing.T) {
	operations := map[string]func(l Level, a [][]float32){
		"gates": func(l Level, a [][]float32) {
			l.LSTMGates(&Gates{I: a[0], F: a[1], G: a[2], O: a[3], Before: a[4], C: a[5], H: a[6]}, len(a[0]))
		},
		"gradient": func(l Level, a [][]float32) {
			l.LSTMGatesGrad(&GatesGrad{I: a[0], F: a[1], G: a[2], O: a[3], Before: a[4], C: a[5], DH: a[6], DC: a[7],
				Carried: a[8]}, len(a[0]))
		},
		"raise":     func(l Level, a [][]float32) { l.Raise(a[0], a[1], .25) },
		"addExp":    func(l Level, a [][]float32) { l.AddExp(a[0], a[1], a[2], -.75) },
		"scaledExp": func(l Level, a [][]float32) { l.ScaledExp(a[0], a[1], a[2], .3) },
	}
	asTwins(t, true, operations)
}

// off is the error of a float32 relative to the wanted value, in units of 2^-24. If that value is below the
// least normal number, it is relative to that number.
func off(got float32, want float64) float64 {
	return math.Abs(float64(got)-want) / math.Max(math.Abs(want), 0x1p-126) * 0x1p24
}

func TestExponential_IsGoodToAFewUnits(t *testing.T) {
	worst := map[string]float64{}
	note := func(what string, x, got float32, want float64) {
		if e := off(got, want); !(e <= worst[what]) {
			worst[what] = e
			if !(e <= 3) {
				t.Fatalf("%s of %g is %g, want %g: off by %.3g units of 2^-24", what, x, got, want, e)
			}
		}
	}
	for i := range 400_000 {
		x := float32(math.Exp(float64(i)/400_000*22 - 17)) // 4e-8 to 148
		for _, x := range []float32{x, -x} {
			if x >= exponentLowest && x <= -exponentLowest {
				note("sigmoid", x, sigmoid(x), 1/(1+math.Exp(-float64(x))))
			}
			note("tanh", x, tanh(x), math.Tanh(float64(x)))
			if x <= 0 && x >= exponentLowest {
				note("exponential", x, exponential(x), math.Exp(float64(x)))
			}
		}
	}
	t.Logf("largest errors in units of 2^-24: %v", worst)
}

func TestGates_Extremes(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float32
	}{
		{"sigmoid of infinity", sigmoid(inf), 1}, {"tanh of infinity", tanh(inf), 1}, {"tanh of -infinity", tanh(-inf), -1},
		{"sigmoid of 0", sigmoid(0), .5}, {"tanh of 0", tanh(0), 0}, {"exponential of 0", exponential(0), 1},
		{"sigmoid of 1e30", sigmoid(1e30), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s is %g, want %g", c.name, c.got, c.want)
		}
	}
	if low := sigmoid(-inf); !(low > 0 && low < 2e-38) {
		t.Errorf("sigmoid of -infinity is %g", low)
	}
	if !math.Signbit(float64(tanh(float32(math.Copysign(0, -1))))) {
		t.Error("tanh of -0 is not -0")
	}
	for _, v := range []float32{sigmoid(nan), tanh(nan), exponential(nan)} {
		if v == v {
			t.Errorf("of NaN: %g", v)
		}
	}
}
