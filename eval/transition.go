package eval

import (
	"fmt"
	"math"

	"nmn/format/table"
	"nmn/labels"
	"nmn/text"
)

// checkRates names the first list that does not fit the classes, and the first rate that is none.
func checkRates(what string, r *labels.Rates, classes int) error {
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
// Noisy labels that are table.Unknown are left out.
func TrueRates(observed, truth []uint8, bags, classes int) (*labels.Rates, error) {
	in := Input{Bags: bags, Classes: classes}
	if err := in.checkLabels("noisy labels", observed, true); err != nil {
		return nil, err
	}
	if err := in.checkLabels("true labels", truth, false); err != nil {
		return nil, err
	}
	type tally struct{ positive, negative, missing, incorrect int }
	tallies := make([]tally, classes)
	for i := range bags {
		for c := range classes {
			z, y := observed[i*classes+c], truth[i*classes+c]
			if z == table.Unknown {
				continue
			}
			t := &tallies[c]
			t.positive += int(y)
			t.negative += int(1 - y)
			t.missing += int(y &^ z)
			t.incorrect += int(z &^ y)
		}
	}
	r := labels.NewRates(classes)
	for c, t := range tallies {
		r.Q01[c] = float64(Share(t.missing, t.positive))
		r.Q10[c] = float64(Share(t.incorrect, t.negative))
	}
	return r, nil
}

// Share is the part of a whole; undefined without a whole.
func Share(part, whole int) Number { return Number(float64(part) / float64(whole)) }

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
func newTransition(g groups, q, t *labels.Rates) *Transition {
	if t == nil {
		t = labels.UnknownRates(len(q.Q01))
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

// rate returns entry c, or undefined if there are no rates.
func rate(r *labels.Rates, c int) (q01, q10 Number) {
	if r == nil {
		return Undefined(), Undefined()
	}
	return Number(r.Q01[c]), Number(r.Q10[c])
}

// NoiseRates returns the estimated and the true rates of each class; nil if none was estimated.
func (r *Result) NoiseRates() labels.Table {
	if r == nil || r.Transition == nil {
		return nil
	}
	table := make(labels.Table, len(r.Words))
	for c, w := range r.Words {
		pos, err := text.ParsePOS(w.POS)
		if err != nil {
			pos = text.Others
		}
		row := labels.NewRow(text.Word{Text: w.Word, POS: pos})
		row.Q01, row.Q10, row.T01, row.T10 = float64(w.Q01), float64(w.Q10), float64(w.T01), float64(w.T10)
		row.Remarks = w.RateRemark
		table[c] = row
	}
	return table
}
