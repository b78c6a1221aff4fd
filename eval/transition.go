package eval

import (
	"fmt"
	"math"
)

// Rates are the two free entries of the transition matrix of each class, with the first index
// observed and the second true: Q01 = p(z=0|y=1), the rate of missing labels, and
// Q10 = p(z=1|y=0), the rate of incorrect labels. NaN marks a rate that is unknown.
type Rates struct {
	Q01, Q10 []float64
}

func (r *Rates) check(what string, classes int) error {
	if len(r.Q01) != classes || len(r.Q10) != classes {
		return fmt.Errorf("%s: %d and %d rates for %d classes: %w", what, len(r.Q01), len(r.Q10), classes, ErrShape)
	}
	for c := range classes {
		for _, q := range []float64{r.Q01[c], r.Q10[c]} {
			if q < 0 || q > 1 {
				return fmt.Errorf("%s: class %d: rate %g is outside 0 to 1: %w", what, c+1, q, ErrValue)
			}
		}
	}
	return nil
}

// TrueRates counts the transition matrix T from noisy labels z and true labels y, both N×K of 0 or
// 1: Q01 is the share of z = 0 among y = 1, Q10 of z = 1 among y = 0. A rate without a case is NaN.
func TrueRates(labels, truth []uint8, bags, classes int) (*Rates, error) {
	if err := checkLabels("noisy labels", labels, bags, classes); err != nil {
		return nil, err
	}
	if err := checkLabels("true labels", truth, bags, classes); err != nil {
		return nil, err
	}
	type tally struct{ positive, missing, incorrect int }
	tallies := make([]tally, classes)
	for i := range bags {
		for c := range classes {
			z, y := labels[i*classes+c], truth[i*classes+c]
			t := &tallies[c]
			t.positive += int(y)
			t.missing += int(y &^ z)
			t.incorrect += int(z &^ y)
		}
	}
	r := &Rates{Q01: make([]float64, classes), Q10: make([]float64, classes)}
	for c, t := range tallies {
		r.Q01[c] = share(t.missing, t.positive)
		r.Q10[c] = share(t.incorrect, bags-t.positive)
	}
	return r, nil
}

func share(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// Transition compares estimated noise rates q with the true ones T: means over the classes of each
// group, of q, of T, and of |q - T|. Classes whose rate is unknown on either side are left out.
type Transition struct {
	Q01      ByGroup[Number] `json:"q01"`
	Q10      ByGroup[Number] `json:"q10"`
	T01      ByGroup[Number] `json:"t01"`
	T10      ByGroup[Number] `json:"t10"`
	Q01Error ByGroup[Number] `json:"q01_error"`
	Q10Error ByGroup[Number] `json:"q10_error"`
}

// newTransition needs the estimates; the true rates may be nil.
func newTransition(g groups, q, t *Rates) *Transition {
	if t == nil {
		t = UnknownRates(len(q.Q01))
	}
	of := func(v []float64) ByGroup[Number] {
		return groupMeans(g, func(c int) Number { return Number(v[c]) })
	}
	gap := func(a, b []float64) ByGroup[Number] {
		return groupMeans(g, func(c int) Number { return Number(math.Abs(a[c] - b[c])) })
	}
	return &Transition{
		Q01: of(q.Q01), Q10: of(q.Q10), T01: of(t.Q01), T10: of(t.Q10),
		Q01Error: gap(q.Q01, t.Q01), Q10Error: gap(q.Q10, t.Q10),
	}
}

// UnknownRates are rates of which none is known.
func UnknownRates(classes int) *Rates {
	r := &Rates{Q01: make([]float64, classes), Q10: make([]float64, classes)}
	for c := range classes {
		r.Q01[c], r.Q10[c] = math.NaN(), math.NaN()
	}
	return r
}

// rate returns entry c, or undefined where there are no rates.
func rate(r *Rates, c int) (q01, q10 Number) {
	if r == nil {
		return Undefined(), Undefined()
	}
	return Number(r.Q01[c]), Number(r.Q10[c])
}
