package rates

import (
	"context"
	"fmt"
	"math"

	"nmn/eval"
	"nmn/format/table"
)

// Verified is a bag whose labels were checked. Scores cannot separate a label that is seldom set although it
// is true from a concept that is rare. A few verified bags, chosen at random, can.
type Verified struct {
	Bag    int     // row of the scores; -1 for a bag without scores
	Labels []uint8 // observed, as in Input.Labels
	Truth  []uint8 // true labels, 0 or 1
}

// Unidentified reports whether scores do not show how many labels are missing: for most classes, the rates are
// unreliable or the interval of q01 is wide. A few verified bags would show it.
func (r *Result) Unidentified() bool {
	const wide = .5
	n := 0
	for _, c := range r.Classes {
		if enough := c.NotEstimated() != TooFew; enough && (!c.Usable() || c.Q01Interval.High-c.Q01Interval.Low > wide) {
			n++
		}
	}
	return r.Verified == 0 && 2*n > len(r.Classes)
}

// Verify returns bags as Estimate takes them. bags are rows of observed, N×K, and truth has the true labels of
// each. scored are the bags that have scores, in the order of these.
func Verify(bags []int, truth, observed []uint8, classes int, scored []int) []Verified {
	rows := make(map[int]int, len(scored))
	for row, bag := range scored {
		rows[bag] = row
	}
	out := make([]Verified, len(bags))
	for i, bag := range bags {
		row, ok := rows[bag]
		if !ok {
			row = -1
		}
		out[i] = Verified{Bag: row, Labels: observed[bag*classes : (bag+1)*classes],
			Truth: truth[i*classes : (i+1)*classes]}
	}
	return out
}

// checkVerified reports the first verified bag that does not match the input.
func (in *Input) checkVerified(verified []Verified) error {
	seen := make(map[int]bool, len(verified))
	for i, v := range verified {
		switch {
		case v.Bag >= in.Bags || v.Bag >= 0 && seen[v.Bag]:
			return fmt.Errorf("noise rates: verified bag %d is row %d of %d, want other rows: %w", i+1, v.Bag+1, in.Bags,
				eval.ErrShape)
		case len(v.Labels) != in.Classes || len(v.Truth) != in.Classes:
			return fmt.Errorf("noise rates: verified bag %d has %d labels and %d true ones for %d classes: %w", i+1,
				len(v.Labels), len(v.Truth), in.Classes, eval.ErrShape)
		}
		seen[v.Bag] = true
		for c, y := range v.Truth {
			if z := v.Labels[c]; y > 1 || z > 1 && z != table.Unknown {
				return fmt.Errorf("noise rates: verified bag %d, class %d: label %d, true label %d, want 0 or 1: %w", i+1,
					c+1, z, y, eval.ErrValue)
			}
		}
	}
	return nil
}

// verifiedColumn are the verified bags of a class. Weight is the weight of its bags in a climb, relative to others.
type verifiedColumn struct {
	bags   []verifiedLabel
	share  float64 // of all bags that have the label
	weight float64
}

// verifiedLabel is a label of a verified bag.
type verifiedLabel struct {
	score float64 // NaN for a bag without scores
	z, y  uint8
}

// verified returns the verified bags of a class; nil for none.
func (e *estimator) verified(c int) *verifiedColumn {
	if len(e.options.Verified) == 0 {
		return nil
	}
	own := &e.classes[c]
	out := &verifiedColumn{bags: make([]verifiedLabel, len(e.options.Verified)),
		share:  float64(own.presentRows) / float64(max(own.bags(), 1)),
		weight: 1 / trust(ofOne, own.rarer())}
	for i, v := range e.options.Verified {
		out.bags[i] = verifiedLabel{math.NaN(), v.Labels[c], v.Truth[c]}
		if v.Bag >= 0 {
			out.bags[i].score = float64(e.in.Scores[v.Bag*e.in.Classes+c])
		}
	}
	return out
}

// likelihood is the log likelihood of the true labels, given the observed ones:
//
//	sum over verified bags of  log p(y|z,o)
//
// With the likelihood of all observed labels it is the likelihood of both. For a bag without scores, p(y) is the
// prevalence that follows from the share of bags with the label. visit, where set, takes the derivative of each term by
// a o + b, and the negative second one, for the bags with scores.
func (k *verifiedColumn) likelihood(b Belief, visit func(score, off, variance float64)) (sum float64) {
	prevalence := logit(within((k.share-b.Q10)/(1-b.Q01-b.Q10), leastRate, 1-leastRate))
	evidence := [2]float64{LabelLogOdds(0, b.Q01, b.Q10), LabelLogOdds(1, b.Q01, b.Q10)}
	for _, v := range k.bags {
		o := prevalence
		if !math.IsNaN(v.score) {
			o = b.A*v.score + b.B
		}
		if v.z != table.Unknown {
			o += evidence[v.z]
		}
		if visit != nil && !math.IsNaN(v.score) {
			rho := Sigmoid(o)
			visit(v.score, float64(v.y)-rho, rho*(1-rho))
		}
		if v.y == 0 {
			o = -o
		}
		sum -= Softplus(-o)
	}
	return sum
}

// anchor sets the rates of each class to the mean of its beliefs, which verified bags have a say in, with the matching
// slope and shift.
func (r *Result) anchor(ctx context.Context, e *estimator, summaries []summary) error {
	r.Verified = len(e.options.Verified)
	err := e.eachClass(ctx, func(c int, _ []float64) {
		class := r.Classes[c].Believed(r.Confidence)
		if class.Beliefs == nil {
			return
		}
		z := evidence{cells: summaries[c].cells, minSlope: e.options.MinSlope, verified: e.verified(c)}
		m := model{q01: class.Q01, q10: class.Q10, a: class.A, b: class.B}
		v, _ := z.climb(m.parameters(), held{rate01: true, rate10: true})
		class.A, class.B, class.TruePositives = v[slope], v[shift], z.truePositives(v)
		class.Diagnoses = class.diagnose(e.options, &e.classes[c], true)
		r.Classes[c] = class
	})
	var all counts
	for c, class := range r.Classes {
		is, isNot := class.TruePositives, float64(e.classes[c].bags())-class.TruePositives
		all.add(counts{true1: is, missing: is * class.Q01, true0: isNot, incorrect: isNot * class.Q10})
	}
	r.PooledQ01, r.PooledQ10 = all.rates(pooledPrior)
	return err
}
