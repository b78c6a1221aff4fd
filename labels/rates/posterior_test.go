package rates

import (
	"errors"
	"math"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
)

func TestPosterior_IsBayesRule(t *testing.T) {
	for _, o := range []float64{-9, -2.5, -.1, 0, 1, 7} {
		for _, q := range [][2]float64{{.3, .1}, {.05, .001}, {.5, .4}} {
			for z := range uint8(2) {
				p := 1 / (1 + math.Exp(-o))
				true1, true0 := 1-q[0], q[1]
				if z == 0 {
					true1, true0 = q[0], 1-q[1]
				}
				near(t, "posterior", Posterior(o, z, q[0], q[1]), true1*p/(true1*p+true0*(1-p)), 1e-14)
			}
		}
	}
}

// With huge logits or rates of 0, a posterior is still a probability, and the right one.
func TestPosterior_IsStable(t *testing.T) {
	for _, c := range []struct {
		o        float64
		z        uint8
		q01, q10 float64
		want     float64
	}{
		{1e4, 0, .2, .1, 1}, {-1e4, 1, .2, .1, 0}, {1e4, 1, 0, 0, 1}, {-1e4, 0, 0, 0, 0}, {0, 1, 1, 0, .5},
		{math.Inf(1), 0, .2, .1, 1}, {math.Inf(-1), 1, .2, .1, 0},
	} {
		near(t, "posterior", Posterior(c.o, c.z, c.q01, c.q10), c.want, 1e-9)
	}
	// Far out, the odds are still exact to rounding: rho ~ e^(o + L).
	if got, want := Posterior(-200, 1, .2, .1), math.Exp(-200+math.Log(.8/.1)); !(math.Abs(got/want-1) < 1e-12) {
		t.Errorf("posterior %g, want %g", got, want)
	}
}

func TestLogits_TurnProbabilitiesBack(t *testing.T) {
	p := []float32{0, 1e-20, .25, .5, .999, 1}
	o, err := Logits(p)
	expect.OK(t, err)
	for i, v := range o {
		if got := Sigmoid(float64(v)); math.Abs(got-float64(p[i])) > 1e-7 || math.IsInf(float64(v), 0) {
			t.Errorf("%g has logit %g, and that has probability %g", p[i], v, got)
		}
	}
	for _, bad := range []float32{-.1, 1.1, float32(math.NaN())} {
		if _, err := Logits([]float32{.5, bad}); !errors.Is(err, eval.ErrValue) {
			t.Errorf("%g: %v", bad, err)
		}
	}
}

func TestCalibrated_UsesSlopeAndShiftOfTheClass(t *testing.T) {
	r := &Result{Classes: []Class{{A: 2, B: 1}, {A: .5, B: 0}}}
	got := r.Calibrated([]float32{1, 4, -1, 2})
	for i, want := range []float32{3, 2, -1, 1} {
		if got[i] != want {
			t.Errorf("cell %d is %g, want %g", i, got[i], want)
		}
	}
}
