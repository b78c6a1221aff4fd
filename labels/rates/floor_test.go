package rates

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// Clean labels and good scores speak against any rate: the floor stays low. Noise that depends on how
// hard a bag is leaves room, and more of it.
func TestFloors_RiseWhereTheLabelsDoNotObject(t *testing.T) {
	unlessShort(t)
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
		_, f, err := RaiseToFloor(t.Context(), in, r, DefaultOptions())
		expect.OK(t, err)
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
	unlessShort(t)
	in := draw(31, 2000, 3, -1, 3, always(.1), always(.05))
	r := estimate(t, in, nil)
	_, f, err := RaiseToFloor(t.Context(), in, r, DefaultOptions())
	expect.OK(t, err)
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
		own := classOf(rows)
		for range 300 {
			m.iterate(&own, .3, make([]float64, own.nodes()))
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

// Raised rates come with the calibration that belongs to them: a wrong rate is made up for as well as
// may be.
func TestRaise_FitsTheCalibrationToTheRates(t *testing.T) {
	in := draw(41, 1500, 3, -1, 3, func(c int) float64 { return .01 + .3*float64(c/2) }, always(.03))
	before := estimate(t, in, nil)
	untouched := *before
	untouched.Classes = slices.Clone(before.Classes)
	r, f, err := RaiseToFloor(t.Context(), in, before, DefaultOptions())
	expect.OK(t, err)
	if !reflect.DeepEqual(&untouched, before) {
		t.Error("the estimate has changed")
	}
	for c, class := range r.Classes {
		old := before.Classes[c]
		if class.Q01 != max(old.Q01, f.Q01) || class.Q10 != max(old.Q10, f.Q10) || class.Q01Interval.High < class.Q01 {
			t.Errorf("class %d: %+v after the floor %+v", c, class, f)
		}
		if class.Q01 > old.Q01+.02 && !(class.TruePositives > old.TruePositives) {
			t.Errorf("class %d: more labels are missing than before, and yet %.1f true ones after %.1f",
				c, class.TruePositives, old.TruePositives)
		}
	}
	// No slope or shift nearby explains the labels better.
	at := func(da, db float64) float64 {
		moved := *r
		moved.Classes = slices.Clone(r.Classes)
		for c := range moved.Classes {
			moved.Classes[c].A += da
			moved.Classes[c].B += db
		}
		return lossOf(in, &moved)
	}
	for _, d := range [][2]float64{{.05, 0}, {-.05, 0}, {0, .1}, {0, -.1}} {
		if !(at(d[0], d[1]) > at(0, 0)) {
			t.Errorf("moving slope and shift by %v explains the labels better", d)
		}
	}
}

// lossOf is -log p(z|o) of all rows.
func lossOf(in Input, r *Result) (loss float64) {
	for i, o := range in.Scores {
		c := r.Classes[i%in.Classes]
		observed := c.Q10 + (1-c.Q01-c.Q10)/(1+math.Exp(-c.Calibrate(float64(o))))
		if in.Labels[i] == 0 {
			observed = 1 - observed
		}
		loss -= math.Log(observed)
	}
	return loss
}

// If the labels would allow more, the floor of q10 ends at three times the mean estimate.
func TestFloors_OfIncorrectLabelsEndAtThreeTimesTheMean(t *testing.T) {
	in := draw(51, 1000, 3, -1, .7, always(0), always(.005))
	r := estimate(t, in, nil)
	_, f, err := RaiseToFloor(t.Context(), in, r, DefaultOptions())
	expect.OK(t, err)
	most := 3 * meanOf(r, func(c Class) float64 { return c.Q10 })
	if most >= maxFloor10 {
		t.Fatalf("three times the mean is %g: this case is to show a mean that is low", most)
	}
	near(t, "floor of q10", f.Q10, most, 1e-9)
}
