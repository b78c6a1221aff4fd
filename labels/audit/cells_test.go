package audit

import (
	"errors"
	"math"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/labels/rates"
)

// grid has two bags and three classes, a logit of its own in each cell.
func grid() Input {
	return Input{Bags: 2, Classes: 3, Logits: []float32{1, -2, 3, -4, 5, -6}, Labels: []uint8{0, 1, 0, 1, 0, 1},
		Rates: &labels.Rates{Q01: []float64{.1, .2, .3}, Q10: []float64{.05, .1, .15}}}
}

// A class is judged by what it may be, with rates of its own or not. Only the second is marked.
func TestFromEstimate_TakesBeliefs(t *testing.T) {
	may := []rates.Belief{{Weight: .75, Q01: .1, Q10: .02, A: 1, B: 0}, {Weight: .25, Q01: .3, Q10: .04, A: 2, B: -1}}
	own := rates.Class{Q01: .7, Q10: .6, A: 3, B: 5, AUC: .99, Positives: 400, Beliefs: may}
	weak := own
	weak.Diagnoses = []rates.Diagnosis{rates.NotPredicted}
	none := rates.Class{Q01: .7, Q10: .6, A: 3, B: 5, Diagnoses: []rates.Diagnosis{rates.TooFew}}
	var in Input
	in.FromEstimate(&rates.Result{Bags: 1000, Confidence: .95, Classes: []rates.Class{own, weak, none}})
	for c := range 2 {
		if in.IsPooled(c) != (c == 1) || math.Abs(in.Rates.Q01[c]-.15) > 1e-12 || math.Abs(in.Rates.Q10[c]-.025) > 1e-12 {
			t.Errorf("class %d: pooled %v, rates %v", c, in.IsPooled(c), in.Rates)
		}
	}
	if in.IsPooled(2) || in.audited(2) {
		t.Errorf("a class without labels: %+v", in)
	}
}

// Several models are combined by their weighted mean, and labels of a class keep the order of their scores.
func TestRun_AveragesWhatAClassMayBe(t *testing.T) {
	s := rng.New(5)
	const bags = 400
	in := Input{Bags: bags, Classes: 1, Rates: &labels.Rates{Q01: []float64{.2}, Q10: []float64{.1}},
		Beliefs: [][]rates.Belief{{{Weight: .5, Q01: .1, Q10: .02, A: 1, B: 0}, {Weight: .3, Q01: .3, Q10: .1, A: 3, B: -2},
			{Weight: .2, Q01: .001, Q10: .3, A: .02, B: -1}}}}
	for range bags {
		in.Logits = append(in.Logits, float32(s.Normal(0, 8)))
		in.Labels = append(in.Labels, uint8(s.Intn(2)))
	}
	r, err := Run(in, 0)
	if err != nil || len(r.Suspects) != bags {
		t.Fatalf("%d suspects, %v", len(r.Suspects), err)
	}
	last := [2]float64{math.Inf(-1), math.Inf(1)} // a label 0 is the surer wrong the higher the score, a label 1 the lower
	for _, found := range slices.Backward(r.Suspects) {
		o := float64(in.Logits[found.Bag])
		if sign := 1 - 2*float64(found.Given); sign*(o-last[found.Given]) < 0 {
			t.Errorf("label %d of score %g comes before one of %g", found.Given, last[found.Given], o)
		}
		last[found.Given] = o
		wrong, present := 0.0, 0.0
		for _, m := range in.Beliefs[0] {
			p := rates.Posterior(m.A*o+m.B, found.Given, m.Q01, m.Q10)
			if found.Given == 1 {
				p = 1 - p
			}
			wrong, present = wrong+m.Weight*p, present+m.Weight*rates.Sigmoid(m.A*o+m.B)
		}
		if math.Abs(found.Error()-wrong) > 1e-3 || math.Abs(found.P-present) > 1e-3 {
			t.Errorf("score %g, label %d: wrong with %g, of the class with %g, want %g and %g", o, found.Given, found.Error(),
				found.P, wrong, present)
		}
	}
}

func TestRank_RefusesListsOfDifferentLengths(t *testing.T) {
	for _, n := range [][3]int{{2, 3, 3}, {3, 2, 3}, {3, 3, 2}, {3, 3, 4}} {
		if _, err := Rank(make([]float32, n[0]), make([]uint8, n[1]), make([]uint8, n[2]), nil); !errors.Is(err,
			eval.ErrShape) {
			t.Errorf("lengths %d: %v", n, err)
		}
	}
}

// Calibration turns a score into the logit that the margin is made of, class by class.
func TestRun_CalibratesByClass(t *testing.T) {
	plain, calibrated := grid(), grid()
	calibrated.A, calibrated.B = []float64{2, .5, 1}, []float64{-1, 0, 3}
	for i, o := range plain.Logits {
		plain.Logits[i] = float32(calibrated.A[i%3]*float64(o) + calibrated.B[i%3])
	}
	a := expect.Value(Run(plain, 0))(t)
	b := expect.Value(Run(calibrated, 0))(t)
	for i := range a.Suspects {
		if x, y := a.Suspects[i], b.Suspects[i]; x.Bag != y.Bag || x.Class != y.Class ||
			math.Abs(x.Margin-y.Margin) > 1e-6 {
			t.Errorf("suspect %d is %+v, and calibrated %+v", i, x, y)
		}
	}
}
