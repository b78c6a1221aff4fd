package rates

import (
	"math"
	"testing"

	"nmn/eval"
	"nmn/rng"
)

// Clean labels and good scores speak against any rate: the floor stays low. Noise that depends on how
// hard a bag is leaves room, and more of it.
func TestFloors_RiseWhereTheLabelsDoNotObject(t *testing.T) {
	clear := draw(21, 3000, 4, -1, 6, always(.02), always(.01))
	hard := draw(22, 3000, 4, -1, 1.2, always(0), always(0))
	s := rng.New(23)
	for i, o := range hard.Scores {
		// A label goes missing the more often the closer the score is to undecided.
		if hard.Labels[i] == 1 && s.Float64() < .6*math.Exp(-float64(o*o)/2) {
			hard.Labels[i] = 0
		}
	}
	var floors [2]Floor
	for i, in := range []Input{clear, hard} {
		r := estimate(t, in, nil)
		f, err := Floors(t.Context(), in, r, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		floors[i] = f
		if f.Q01 < 0 || f.Q01 > maxFloor01 || f.Q10 > maxFloor10 {
			t.Errorf("floor %+v", f)
		}
	}
	if !(floors[1].Q01 > 2*floors[0].Q01) {
		t.Errorf("floors of q01 are %g with clear scores and %g with hard bags", floors[0].Q01, floors[1].Q01)
	}
	if floors[0].Q01 > .1 {
		t.Errorf("clear scores and clean labels let q01 rise to %g", floors[0].Q01)
	}
}

// At the floor the loss is as large as it may be, by the definition, computed here row by row.
func TestFloors_CostWhatTheyMay(t *testing.T) {
	in := draw(31, 2000, 3, -1, 3, always(.1), always(.05))
	r := estimate(t, in, nil)
	f, err := Floors(t.Context(), in, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, c := range r.Classes {
		n += c.TruePositives
	}
	base := refitted(in, r, Floor{})
	at := func(f Floor) float64 { return (refitted(in, r, f) - base) / n }
	if f.Q01 < maxFloor01 {
		near(t, "loss at the floor of q01", at(Floor{Q01: f.Q01}), floorLoss, 2e-4)
	} else if loss := at(Floor{Q01: f.Q01}); loss > floorLoss {
		t.Errorf("the highest floor of q01 costs %g", loss)
	}
	if f.Q10 < maxFloor10 && f.Q10 < 3*meanOf(r, func(c Class) float64 { return c.Q10 })-1e-9 {
		near(t, "loss at the floor of q10", at(Floor{Q10: f.Q10}), floorLoss, 2e-4)
	}
	t.Logf("floors %+v", f)
}

// refitted is -log p(z|o) of all rows with rates raised and (a, b) fitted anew by plain iterations.
func refitted(in Input, r *Result, f Floor) (loss float64) {
	for c, class := range r.Classes {
		var rows column
		for i := range in.Bags {
			if o := in.Scores[i*in.Classes+c]; in.Labels[i*in.Classes+c] == 1 {
				rows.present = append(rows.present, o)
			} else {
				rows.absent = append(rows.absent, o)
			}
		}
		m := model{max(class.Q01, f.Q01), max(class.Q10, f.Q10), class.A, class.B}
		for range 300 {
			m.iterate(rows, .3, make([]float64, in.Bags))
		}
		observed := func(o float32) float64 { return m.q10 + (1-m.q01-m.q10)/(1+math.Exp(-m.a*float64(o)-m.b)) }
		for _, o := range rows.present {
			loss -= math.Log(observed(o))
		}
		for _, o := range rows.absent {
			loss -= math.Log1p(-observed(o))
		}
	}
	return loss
}

func TestFloor_ApplyRaisesRatesAndKeepsUnknownOnes(t *testing.T) {
	got := Floor{.1, .02}.Apply(&eval.Rates{Q01: []float64{.05, .3, math.NaN()}, Q10: []float64{.5, .01, math.NaN()}})
	if got.Q01[0] != .1 || got.Q01[1] != .3 || got.Q10[0] != .5 || got.Q10[1] != .02 || !math.IsNaN(got.Q01[2]) || !math.IsNaN(got.Q10[2]) {
		t.Errorf("rates %+v", got)
	}
}
