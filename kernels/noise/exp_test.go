package noise

import (
	"math"
	"testing"
)

func TestLogistic_BothSidesPrecise(t *testing.T) {
	for _, x := range []float64{-700, -300, -40, -3.7, -1e-9, 0, 1e-9, 0.3, 5, 37, 60, 300, 700} {
		p, q := logistic(x)
		// Written so that neither side comes from 1 - the other.
		wantP, wantQ := math.Exp(min(x, 0))/(1+math.Exp(-math.Abs(x))), math.Exp(min(-x, 0))/(1+math.Exp(-math.Abs(x)))
		if !(math.Abs(p/wantP-1) < 1e-8 && math.Abs(q/wantQ-1) < 1e-8) {
			t.Errorf("sigmoid(±%g) = %g, %g, want %g, %g", x, p, q, wantP, wantQ)
		}
	}
	if p, q := logistic(math.NaN()); !math.IsNaN(p) || !math.IsNaN(q) {
		t.Errorf("sigmoid(NaN) = %g, %g", p, q)
	}
	if p, q := logistic(math.Inf(1)); p != 1 || !(q < 1e-300) {
		t.Errorf("sigmoid(+Inf) = %g, %g", p, q)
	}
}

// The two ways through the algebra must agree where both hold.
func TestDecide_PlainAndExtremeAgree(t *testing.T) {
	values := []float64{-150, -30, -4, -0.5, 0, 0.01, 2, 11, 90}
	for _, b := range values {
		for _, a0 := range values {
			for _, a1 := range values {
				for z := range 2 {
					m := transition{a0, a1}
					var plain, extreme decision
					plain.noisy(pooledLogit(b), m, float64(z))
					extreme.extreme(b, m, float64(z))
					compareDecisions(t, b, m, plain, extreme)
				}
			}
		}
	}
}

func compareDecisions(t *testing.T, b float64, m transition, x, y decision) {
	t.Helper()
	pairs := [][2]float64{{x.p, y.p}, {x.observed, y.observed}, {x.posterior, y.posterior},
		{x.loss.total(), y.loss.total()}, {x.dLogit, y.dLogit}}
	for i := range x.dO {
		pairs = append(pairs, [2]float64{x.dO[i], y.dO[i]})
	}
	for i, p := range pairs {
		if !(math.Abs(p[0]-p[1]) <= 2e-8*math.Abs(p[1])+2e-8*1e-6) {
			t.Errorf("b %g, a %v, value %d: %g and %g", b, m, i, p[0], p[1])
		}
	}
}

// If both q_zj round to 1, their difference equals the difference of the miss probabilities.
func TestDecide_GradientOfNearlyEqualTransitionsKeepsItsDigits(t *testing.T) {
	var d decision
	d.noisy(pooledLogit(0), transition{40, 41}, 1)
	want := 0.25 * (math.Exp(-41) - math.Exp(-40))
	if !(math.Abs(d.dLogit/want-1) < 1e-7) {
		t.Errorf("dLogit %g, want %g", d.dLogit, want)
	}
}

// Each of these over- or underflows in one of the forms that the algebra must not use here.
func TestDecide_ExtremesStayFinite(t *testing.T) {
	for _, test := range []struct {
		b      float64
		m      transition
		z      float64
		loss   float64
		dLogit float64
	}{
		{-1000, transition{-900, 900}, 1, 900, -math.Exp(-100)}, // the label speaks against the classifier, and loses
		{1000, transition{-900, 900}, 0, 900, math.Exp(-100)},
		{-800, transition{-900, 900}, 1, 800, -1}, // and wins
		{1e4, transition{-2000, 2000}, 0, 2000, 0},
		{-1e4, transition{2000, -2000}, 0, 2000, 0},
		{1e4, transition{-2000, 2000}, 1, 0, 0},
	} {
		var d decision
		d.noisy(pooledLogit(test.b), test.m, test.z)
		if !(math.Abs(d.loss.total()-test.loss) <= 1e-9*test.loss) ||
			!(math.Abs(d.dLogit-test.dLogit) <= 1e-7*math.Abs(test.dLogit)+1e-300) {
			t.Errorf("%+v: loss %g, dLogit %g", test, d.loss.total(), d.dLogit)
		}
		for _, v := range append(d.dO[:], d.p, d.observed, d.posterior) {
			if !(math.Abs(v) <= 1) {
				t.Errorf("%+v: %+v", test, d)
			}
		}
	}
}
