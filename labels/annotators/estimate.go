package annotators

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// phases in which annotators have pairs of their own, with a prior estimated before each.
const phases = 4

// Estimate finds the reliability of each annotator and the probability of each label. It starts from the
// share of votes, then fits one pair of rates for all annotators, and then one pair for each. If the result
// contradicts both the votes and an estimate that treats each label separately, Estimate returns the separate
// one. Classes that exclude each other have a model of their own. Errors wrap ErrInput or ErrUnidentified, or
// come from the options or ctx.
func Estimate(ctx context.Context, in Input, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	exclusive := in.exclusive()
	switch {
	case o.ByLabel:
		return estimateOnce(ctx, &in, o, byLabel)
	case exclusive && in.matrices() <= mostMatrices:
		return estimateExclusive(ctx, &in, o)
	}
	r, err := estimateOnce(ctx, &in, o, estimateLabels)
	if err == nil && exclusive {
		r.Notes = append(r.Notes, fmt.Sprintf("Every answer has exactly one label, but %d rows × %d labels are too many "+
			"for confusion matrices: labels are estimated as if they did not exclude each other.", len(in.Rows), in.Classes))
	}
	return r, err
}

// estimateLabels is Estimate of labels that do not exclude each other.
func estimateLabels(ctx context.Context, in *Input, o Options) (*Result, error) {
	e, err := estimate(ctx, in, o)
	if err != nil {
		return nil, err
	}
	r := e.result()
	found, votes := r.unexplained()
	if !contradicts(found, votes, leastLabels) {
		return r, nil
	}
	note := "One pair of rates for each annotator leaves more answers unexplained than separate labels do: each " +
		"label is estimated separately."
	joined, err := byLabel(ctx, in, o)
	switch {
	case err == nil:
		if alone, _ := joined.unexplained(); !contradicts(found, alone, leastLabels) {
			return r, nil // the annotators are bad; summing labels did not hide it
		}
		r = joined
	case ctx.Err() != nil:
		return nil, err
	default: // too many labels to be taken one by one
		note = "One pair of rates for each annotator leaves more answers unexplained than votes do: all have one pair."
		const decisive = 1e9
		o.Strength01, o.Strength10 = decisive, decisive
		if e, err = estimate(ctx, in, o); err != nil {
			return nil, err
		}
		r = e.result()
	}
	r.Notes = append(r.Notes, note)
	return r, nil
}

// unexplained returns the number of answers that differ from the consensus, and the number that differ from
// the votes. It counts only labels that three or more annotators were asked about.
func (r *Result) unexplained() (found, votes float64) {
	for i := range r.Bags {
		r.Each(i, func(c Cell) {
			if c.Asked < 3 {
				return
			}
			yes, no := float64(c.Given), float64(c.Asked-c.Given)
			votes += min(yes, no)
			if c.Holds {
				found += no
			} else {
				found += yes
			}
		})
	}
	return found, votes
}

// Ratios by which an estimate may leave more answers unexplained than a simpler one. Weighting annotators has
// a cost: a seventh more if a fifth of them are adversaries, which separate labels and accuracies also
// detect. Trusting annotators who always give the same answer nearly doubles the unexplained answers.
const (
	leastLabels   = .1 // than labels by themselves, and votes
	leastMatrices = .2 // than accuracies
)

// contradicts reports whether an estimate leaves more answers unexplained than a simpler one, by more than a share and
// by more than chance.
func contradicts(found, simpler, share float64) bool {
	return found-simpler > share*simpler+2*math.Sqrt(simpler)
}

func estimate(ctx context.Context, in *Input, o Options) (*estimator, error) {
	seen := in.overlap()
	if err := in.identifiable(seen); err != nil {
		return nil, err
	}
	e := newEstimator(in, o)
	e.overlap = seen
	for j := range e.free {
		e.free[j] = seen.shared[j] > 0 || in.Logits != nil && seen.bags[j] > 0
	}
	e.vote()
	e.pooled = true
	e.maximise()
	const coarse = 1e-6
	if err := e.climb(ctx, 0, max(coarse, o.Tolerance)); err != nil {
		return nil, err
	}
	for phase := 1; phase <= phases; phase++ {
		tolerance := max(coarse, o.Tolerance)
		if phase == phases {
			tolerance = o.Tolerance
		}
		e.shrink()
		e.pooled = false
		if err := e.climb(ctx, phase, tolerance); err != nil {
			return nil, err
		}
	}
	if e.prior != nil {
		e.mostPrior = slices.Max(e.prior)
	}
	return e, nil
}

// Options are the settings of an estimate.
type Options struct {
	// Iterations is the most of each phase: all annotators with one pair of rates, then each with its own, whose prior
	// is estimated anew between phases.
	Iterations int
	// Tolerance ends a phase: the least gain of the objective in an iteration, relative to the objective.
	Tolerance float64
	// Strength01 and Strength10 are the weight of all annotators together on q01, in true labels, and on q10, in labels
	// that do not hold. 0 estimates them from how much annotators differ.
	Strength01, Strength10 float64
	// ByLabel gives each annotator a pair of rates for each label, as if each label were a separate file: for
	// rates that differ among labels.
	ByLabel bool
	// Confidence is the probability that an interval holds the rate.
	Confidence float64
}

// DefaultOptions estimate all that can be estimated.
func DefaultOptions() Options { return Options{Iterations: 500, Tolerance: 1e-9, Confidence: .95} }

// Validate names a setting that is out of range.
func (o Options) Validate() error {
	switch {
	case o.Iterations < 1:
		return fmt.Errorf("annotators: %d iterations, want at least 1", o.Iterations)
	case !(o.Tolerance > 0 && o.Tolerance < 1):
		return fmt.Errorf("annotators: tolerance %g, want above 0 and below 1", o.Tolerance)
	case !(o.Strength01 >= 0 && o.Strength10 >= 0) || math.IsInf(o.Strength01+o.Strength10, 0):
		return fmt.Errorf("annotators: strengths of the prior are %g and %g labels, want at least 0", o.Strength01,
			o.Strength10)
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("annotators: confidence %g, want above 0 and below 1", o.Confidence)
	}
	return nil
}
