// Package labels is for work on how labels are wrong: the packages below it find wrong labels, and it holds the noise
// rates of labels, one pair for each class, and the files that keep them. q.csv has the rates of the noise model of a
// run, rates.csv an estimate from scores; tables of the same form are given to a training, to an audit or to flips.
//
// The first index of a rate is the observed label z, the second the true label y, as in the paper ("Learning from
// Noisy Labels with Noise Modeling Network"): Q01 = p(z=0|y=1) is how often a true label goes missing,
// Q10 = p(z=1|y=0) is how often a false one appears. NaN stands for a rate that is unknown.
//
// Each folder below answers a question: which label is wrong (audit), how noisy are the labels (rates), which caption
// belongs elsewhere (misplaced), whose labels count (annotators), and what if labels were noisier (inject).
package labels

import "math"

// Rates are the noise rates of labels in class order: Q01 = p(z=0|y=1) and Q10 = p(z=1|y=0), with z the observed and
// y the true label. Both slices have one entry for each class, NaN where a rate is unknown. Where a function says so,
// a single entry stands for all classes, and none for rates of 0.
type Rates struct {
	Q01, Q10 []float64
}

// NewRates are rates of 0.
func NewRates(classes int) *Rates {
	return &Rates{Q01: make([]float64, classes), Q10: make([]float64, classes)}
}

// UnknownRates are rates of which none is known.
func UnknownRates(classes int) *Rates {
	r := NewRates(classes)
	for c := range classes {
		r.Q01[c], r.Q10[c] = math.NaN(), math.NaN()
	}
	return r
}
