package rates

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
)

// A class with labels of both kinds has beliefs, whether the scores predict it or not. They are around the rates of the
// other classes, and each explains the labels as well as its rates can.
func TestEstimate_BelievesOfEachClass(t *testing.T) {
	in := partlyPredicted(3000, 9, 4)
	r := estimate(t, in, nil)
	for c, class := range r.Classes {
		if c == 8 {
			if mean := class.Believed(.95); class.Beliefs != nil || mean.Q01 != class.Q01 ||
				mean.Q10Interval != class.Q10Interval {
				t.Errorf("a class without a label: %+v, want %+v", mean, class)
			}
			continue
		}
		sum := 0.0
		for _, b := range class.Beliefs {
			sum += b.Weight
		}
		near(t, "sum of weights", sum, 1, 1e-12)
		mean := class.Believed(.95)
		if i := mean.Q01Interval; !(i.Low < .2 && .2 < i.High && mean.Q01 > .1 && mean.Q01 < .35) {
			t.Errorf("class %d: q01 %.3f in %.3f, want .2", c, mean.Q01, i)
		}
		if i := mean.Q10Interval; c < 7 && !(i.Low < .2 && .2 < i.High && mean.Q10 > .1 && mean.Q10 < .25) {
			t.Errorf("class %d: q10 %.3f in %.3f, want .2", c, mean.Q10, i)
		}
		likeliest := slices.MaxFunc(class.Beliefs, func(a, b Belief) int {
			if a.Weight < b.Weight {
				return -1
			}
			return 1
		})
		loss := func(a, b float64) (sum float64) {
			for i := range in.Bags {
				p := likeliest.Q10 + (1-likeliest.Q01-likeliest.Q10)*Sigmoid(a*float64(in.Scores[i*in.Classes+c])+b)
				if in.Labels[i*in.Classes+c] == 0 {
					p = 1 - p
				}
				sum -= math.Log(p)
			}
			return sum
		}
		at := likeliest
		for _, other := range [][2]float64{{at.A + .2, at.B}, {max(at.A-.2, beliefSlope), at.B}, {at.A, at.B + .2},
			{at.A, at.B - .2}} {
			if loss(other[0], other[1]) < loss(at.A, at.B)-.2 {
				t.Errorf("class %d: %v explains the labels better than %+v", c, other, at)
			}
		}
	}
}

// If no score predicts anything, labels count as mostly right: nothing suggests that all of them are noise.
func TestEstimate_BelievesLabelsOfWhichNothingIsKnown(t *testing.T) {
	s := rng.New(3)
	in := Input{Bags: 400, Classes: 20}
	for range in.Bags {
		for range in.Classes {
			z := uint8(0)
			if s.Float64() < .06 {
				z = 1
			}
			in.Scores, in.Labels = append(in.Scores, float32(s.Normal(-2.7, .3))), append(in.Labels, z)
		}
	}
	for c, class := range estimate(t, in, nil).Classes {
		wrong := 0.0 // for a label 1 at the middle score
		for _, b := range class.Beliefs {
			wrong += b.Weight * (1 - Posterior(b.A*-2.7+b.B, 1, b.Q01, b.Q10))
		}
		if wrong > .4 {
			t.Errorf("class %d: a label is wrong with %.3f", c, wrong)
		}
	}
}

// Rates below the floor rise to it, with the matching slope and shift. Weights stay.
func TestRaise_LiftsBeliefs(t *testing.T) {
	in := draw(2, 2000, 3, -1, 2, always(.2), always(.05))
	r := estimate(t, in, nil)
	raised, f, err := RaiseToFloor(t.Context(), in, r, DefaultOptions())
	expect.OK(t, err)
	lifted := 0
	for c, class := range raised.Classes {
		for i, b := range class.Beliefs {
			was := r.Classes[c].Beliefs[i]
			if b.Weight != was.Weight || b.Q01 != max(was.Q01, f.Q01) || b.Q10 != max(was.Q10, f.Q10) {
				t.Errorf("class %d: %+v was %+v, the floor is %+v", c, b, was, f)
			}
			if b != was {
				lifted++
			}
		}
	}
	if mean := raised.Classes[0].Believed(.95); lifted == 0 || mean.Q01 < f.Q01 || mean.Q10 < f.Q10 {
		t.Errorf("%d lifted to %+v: %+v", lifted, f, mean)
	}
}

// If labels come from other bags, a frequent label is added more often and goes missing less often. This holds for
// classes that the scores do not predict, too.
func TestEstimate_BelievesThatLabelsWereExchanged(t *testing.T) {
	s := rng.New(9)
	in := Input{Bags: 4000, Classes: 12}
	share := func(c int) float64 { return .05 + .05*float64(c) }
	for range in.Bags {
		other := s.Float64() < .4
		for c := range in.Classes {
			y, apart := 0., 4.
			if s.Float64() < share(c) {
				y = 1
			}
			if c%2 == 1 {
				apart = .2
			}
			z := uint8(y)
			if other {
				if z = 0; s.Float64() < share(c) {
					z = 1
				}
			}
			in.Scores, in.Labels = append(in.Scores, float32(s.Normal(apart*(y-.6), 1))), append(in.Labels, z)
		}
	}
	for c, class := range estimate(t, in, nil).Classes {
		mean := class.Believed(.95)
		near(t, "q01", mean.Q01, .4*(1-share(c)), .08)
		near(t, "q10", mean.Q10, .4*share(c), .05)
	}
}

// With many labels, a class may have other noise than the others.
func TestEstimate_BelievesOfManyBags(t *testing.T) {
	unlessShort(t)
	r := estimate(t, draw(1, 60000, 2, -1, 4, func(c int) float64 { return .001 + .3*float64(c) }, func(c int) float64 {
		return .0005 + .2*float64(c)
	}), nil)
	for c, class := range r.Classes {
		sum := 0.0
		for _, b := range class.Beliefs {
			sum += b.Weight
		}
		near(t, "sum of weights", sum, 1, 1e-12)
		near(t, "q01", class.Believed(.95).Q01, .001+.3*float64(c), .06)
		near(t, "q10", class.Believed(.95).Q10, .0005+.2*float64(c), .06)
	}
}

func TestHolding_HasSoMuchOfTheWeight(t *testing.T) {
	rates := []float64{.1, .2, .4}
	for _, v := range []struct {
		share   float64
		weights []float64
		want    Interval
	}{
		{.5, []float64{0, 1, 0}, Interval{.1875, .2625}},
		{1, []float64{0, 1, 0}, Interval{.15, .3}},
		{.9, []float64{.05, 0, .95}, Interval{.15, .3 + .1*.9/.95}},
	} {
		got := holding(v.share, rates, v.weights)
		near(t, "low", got.Low, v.want.Low, 1e-12)
		near(t, "high", got.High, v.want.High, 1e-12)
	}
}

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
