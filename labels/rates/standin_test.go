package rates

import (
	"math"
	"testing"

	"nmn/internal/rng"
)

// partlyPredicted draws labels, a fifth of them wrong. The scores predict the first classes well and the others not at
// all. The last class but one is rare. The last has no label.
func partlyPredicted(bags, classes, told int) Input {
	s := rng.New(7)
	in := Input{Bags: bags, Classes: classes}
	for range bags {
		for c := range classes {
			y, share, wrong, apart := uint8(0), .3, .2, 0.
			if c < told {
				apart = 4
			}
			if c == classes-2 {
				share, wrong = .04, .03
			}
			if s.Float64() < share {
				y = 1
			}
			z := y
			if s.Float64() < wrong {
				z = 1 - y
			}
			if c == classes-1 {
				z = 0
			}
			in.Scores = append(in.Scores, float32(s.Normal(apart*(float64(y)-.6), 1)))
			in.Labels = append(in.Labels, z)
		}
	}
	return in
}

// A class that the scores do not predict gets rates from the other classes and the best calibration for them. A rare class
// keeps most of its labels.
func TestEstimate_WhatStandsIn(t *testing.T) {
	in := partlyPredicted(3000, 9, 4)
	r, err := Estimate(t.Context(), in, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for c, class := range r.Classes {
		s := class.StandIn
		if class.Usable() != (c < 4) || (s != nil) != (c >= 4 && c < 8) {
			t.Fatalf("class %d, %v: %+v", c, class.Diagnoses, s)
		}
		if s == nil {
			continue
		}
		if s.Q01 > r.PooledQ01 || s.Q10 > r.PooledQ10 || s.Q01 <= 0 || s.Q10 <= 0 {
			t.Errorf("class %d: %+v, more than the pooled %g and %g", c, s, r.PooledQ01, r.PooledQ10)
		}
		present := float64(class.Positives) / float64(r.Bags)
		if wrong := s.Q10 * (1 - present); wrong > .7*present {
			t.Errorf("class %d: %.3f of bags have the label, and with %+v it is wrong in %.3f", c, present, s, wrong)
		}
		loss := func(a, b float64) (sum float64) {
			for i := range in.Bags {
				p := s.Q10 + (1-s.Q01-s.Q10)*Sigmoid(a*float64(in.Scores[i*in.Classes+c])+b)
				if in.Labels[i*in.Classes+c] == 0 {
					p = 1 - p
				}
				sum -= math.Log(p)
			}
			return sum
		}
		best := loss(s.A, s.B)
		for _, other := range [][2]float64{{s.A + .1, s.B}, {s.A, s.B + .1}, {s.A, s.B - .1}} {
			if loss(other[0], other[1]) < best-.1 {
				t.Errorf("class %d: %v explains the labels better than %+v", c, other, s)
			}
		}
	}
}

// Where few labels are known, the scores of a class that is predicted are taken as they are.
func TestStandIns_CountKnownLabels(t *testing.T) {
	few := Class{Positives: 300, Unknown: 600, AUC: .9, Diagnoses: []Diagnosis{TooFew}}
	many := few
	many.Unknown = 0
	in := partlyPredicted(20, 2, 1)
	e, err := newEstimator(t.Context(), &in, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	r := Result{Bags: 920, PooledQ01: .3, Classes: []Class{few, many}}
	if err := r.standIns(t.Context(), e, make([]summary, 2)); err != nil {
		t.Fatal(err)
	}
	if s := r.Classes[0].StandIn; s == nil || *s != (StandIn{.3, leastPooled, 1, 0}) {
		t.Errorf("20 of 320 known labels are few: %+v", s)
	}
	if s := r.Classes[1].StandIn; s != nil {
		t.Errorf("620 of 920 labels are not few, and no class has rates of its own: %+v", s)
	}
}
