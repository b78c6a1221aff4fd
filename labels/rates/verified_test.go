package rates

import (
	"errors"
	"math"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// drawHidden makes labels that leave out 85 % of what is true, scores that predict the truth, and the truth of the
// first bags.
func drawHidden(seed uint64, bags, classes, verified int) (Input, []Verified) {
	in := Input{Bags: bags, Classes: classes}
	s := rng.New(seed)
	var truth []uint8
	for range bags * classes {
		o, y, z := s.Normal(-1, 1.5), uint8(0), uint8(0)
		if s.Float64() < Sigmoid(o) {
			y = 1
		}
		if y == 1 && s.Float64() >= .85 || y == 0 && s.Float64() < .03 {
			z = 1
		}
		in.Scores, in.Labels, truth = append(in.Scores, float32(o/2-2)), append(in.Labels, z), append(truth, y)
	}
	rows := make([]int, verified)
	for i := range rows {
		rows[i] = i
	}
	return in, Verify(rows, truth, in.Labels, classes, rows)
}

// Without verified bags, rates are far off, because scores show either rare classes or missing labels. Fifty bags show
// which, also if they have no scores.
func TestEstimate_VerifiedBagsAnchorTheRates(t *testing.T) {
	in, verified := drawHidden(11, 2000, 12, 50)
	prevalence := func(r *Result) float64 {
		return meanOf(r, func(c Class) float64 { return c.TruePositives / float64(in.Bags) })
	}
	if r := estimate(t, in, nil); prevalence(r) > .2 {
		t.Errorf("without verified bags, %.2f of the labels are true", prevalence(r))
	}
	unscored := make([]Verified, len(verified))
	for i, v := range verified {
		unscored[i] = Verified{Bag: -1, Labels: v.Labels, Truth: v.Truth}
	}
	for name, of := range map[string][]Verified{"scored": verified, "without scores": unscored} {
		r := estimate(t, in, func(o *Options) { o.Verified = of })
		near(t, name+": mean q01", meanOf(r, func(c Class) float64 { return c.Q01 }), .85, .04)
		near(t, name+": mean q10", meanOf(r, func(c Class) float64 { return c.Q10 }), .03, .015)
		near(t, name+": pooled q01", r.PooledQ01, .85, .04)
		near(t, name+": share of true labels", prevalence(r), .31, .06)
		held := 0
		for c, class := range r.Classes {
			if i := class.Q01Interval; i.Low <= .85 && .85 <= i.High {
				held++
			}
			if !class.Trainable() {
				t.Errorf("%s: class %d: %v", name, c, class.Diagnoses)
			}
		}
		if held < 11 {
			t.Errorf("%s: %d of 12 intervals hold q01", name, held)
		}
		if raised, f, err := RaiseToFloor(t.Context(), in, r, Options{Iterations: 1, MinSlope: .3, Strength01: 20,
			Strength10: 50, Confidence: .95, Verified: of}); err != nil || f != (Floor{}) || raised != r {
			t.Errorf("%s: raised to %+v, %v", name, f, err)
		}
	}
}

// The likelihood of true labels given observed ones is that of both, less that of the observed ones.
func TestVerified_IsTheConditionalLikelihood(t *testing.T) {
	in, verified := drawHidden(11, 30, 2, 8)
	verified[3].Labels = []uint8{255, 255}
	o := DefaultOptions()
	o.Verified = verified
	e, err := newEstimator(t.Context(), &in, o)
	expect.OK(t, err)
	b := Belief{Q01: .7, Q10: .04, A: 1.3, B: .5}
	want := 0.0
	for i, v := range verified {
		p, y := Sigmoid(b.A*float64(in.Scores[2*i+1])+b.B), v.Truth[1]
		if y == 0 {
			p = 1 - p
		}
		both := func(y, z uint8, p float64) float64 {
			switch {
			case z == 255:
				return p
			case y == 1 && z == 0:
				return p * b.Q01
			case y == 1:
				return p * (1 - b.Q01)
			case z == 1:
				return p * b.Q10
			}
			return p * (1 - b.Q10)
		}
		joint := both(y, v.Labels[1], p)
		want += math.Log(joint / (joint + both(1-y, v.Labels[1], 1-p)))
	}
	near(t, "log likelihood", e.verified(1).likelihood(b, nil), want, 1e-12)
}

func TestEstimate_RefusesVerifiedBags(t *testing.T) {
	in, verified := drawHidden(11, 30, 2, 3)
	for name, change := range map[string]func(v []Verified){
		"a row that is not there": func(v []Verified) { v[1].Bag = 30 },
		"a bag twice":             func(v []Verified) { v[1].Bag = 0 },
		"too few labels":          func(v []Verified) { v[1].Truth = v[1].Truth[:1] },
		"no label":                func(v []Verified) { v[1].Truth = []uint8{0, 2} },
		"no observed label":       func(v []Verified) { v[1].Labels = []uint8{7, 0} },
	} {
		of := append([]Verified(nil), verified...)
		change(of)
		o := DefaultOptions()
		o.Verified = of
		if _, err := Estimate(t.Context(), in, o); !errors.Is(err, eval.ErrShape) && !errors.Is(err, eval.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
