package ref

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The known answers that the authors of Philox publish with their library.
func TestPhilox_KnownAnswers(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Philox(c.counter, c.key); got != c.want {
			t.Errorf("Philox(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// The equations of the paper, section 3, as printed: without logarithms, with products and quotients.
func printed(o []float64, confidence *[2][2]float64, z float64, mil bool) (loss, p1, observed, rho1 float64) {
	if mil {
		product := 1.0
		for _, v := range o {
			product *= 1 - 1/(1+math.Exp(-v))
		}
		p1 = 1 - product
	} else {
		mean := 0.0
		for _, v := range o {
			mean += v
		}
		p1 = 1 / (1 + math.Exp(-mean/float64(len(o))))
	}
	if confidence == nil {
		return -z*math.Log(p1) - (1-z)*math.Log(1-p1), p1, p1, z
	}
	q := func(i, j int) float64 {
		return math.Exp(confidence[i][j]) / (math.Exp(confidence[0][j]) + math.Exp(confidence[1][j]))
	}
	observed = q(1, 0)*(1-p1) + q(1, 1)*p1
	pz := z*observed + (1-z)*(1-observed)
	return -math.Log(pz), p1, observed, q(int(z), 1) * p1 / pz
}

func TestNoiseStep_IsThePrintedEquationAndItsDerivative(t *testing.T) {
	for _, mil := range []bool{false, true} {
		for _, z := range []float64{0, 1, 0.3} {
			for _, confidence := range []*[2][2]float64{nil, {{1.5, -0.5}, {-1, 2}}, {{-1, 2}, {0.5, -3}}, {{2, 2}, {2, 2}}} {
				if confidence != nil && z != 0 && z != 1 {
					continue
				}
				o := []float64{-1.2, 0.4, -3, 1.1}
				got := NoiseStep(o, confidence, z, mil)
				loss, p1, observed, rho1 := printed(o, confidence, z, mil)
				near(t, "loss", got.Loss, loss, 1e-12)
				near(t, "p1", got.Prob, p1, 1e-12)
				near(t, "observed", got.Observed, observed, 1e-12)
				near(t, "rho1", got.Posterior, rho1, 1e-12)
				near(t, "bag logit", got.BagLogit, math.Log(p1/(1-p1)), 1e-12)
				f := func() float64 { loss, _, _, _ := printed(o, confidence, z, mil); return loss }
				for s := range o {
					near(t, "dL/do", got.DLogits[s], Central(f, o, s, 1e-4), 1e-7)
				}
				if confidence == nil {
					continue
				}
				for i := range 2 {
					for j := range 2 {
						near(t, "dL/dO", got.DO[i][j], Central(f, confidence[i][:], j, 1e-4), 1e-7)
					}
				}
			}
		}
	}
}

func TestUpdate_FollowsHandWorkedSteps(t *testing.T) {
	w, m := []float64{2}, []float64{0.5}
	SGD(w, []float64{3}, m, 0.1, 0.01, 0.9)
	near(t, "momentum", m[0], 0.45+3.02, 1e-15)
	near(t, "weight", w[0], 2-0.347, 1e-15)
	SGD(w, []float64{3}, m, 0, 0.01, 0.9)
	near(t, "frozen", w[0], 2-0.347, 1e-15)
	// In its first step Adam moves by lr, whatever the gradient's size is.
	w, m = []float64{2}, []float64{0}
	Adam(w, []float64{1e-3}, m, []float64{0}, 0.1, 0, 0.9, 0.999, 0, 1)
	near(t, "Adam's first step", w[0], 1.9, 1e-12)
	near(t, "norm", Norm([]float64{3}, []float64{0, 4}), 5, 1e-15)
	near(t, "clip", Clip([]float64{3}, 5, 2.5)[0], 1.5, 1e-15)
	near(t, "no clip", Clip([]float64{3}, 5, 6)[0], 3, 1e-15)
}

func TestNormalize_MirrorsTheValidPartOnly(t *testing.T) {
	pixels := []uint8{1, 2, 3, 4, 5, 6, 9, 9, 9} // one row of three pixels, two of them valid
	got := Normalize(Map{1, 1, 3, 4}, pixels, [][2]int{{1, 2}}, []uint8{1}, [3]float64{1, 1, 1}, [3]float64{1, 2, 3})
	for i, want := range []float64{3, 8, 15, 0, 0, 2, 6, 0, 0, 0, 0, 0} {
		near(t, "x", got[i], want, 0)
	}
}

func TestLogSoftmax_KnownAnswers(t *testing.T) {
	got := LogSoftmax([]float64{0, 0, 1e4, 1e4 - 800, math.Log(3), 0}, 2)
	for i, want := range []float64{-math.Ln2, -math.Ln2, 0, -800, math.Log(.75), math.Log(.25)} {
		near(t, "log-softmax", got[i], want, 1e-14)
	}
}
