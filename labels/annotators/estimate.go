package annotators

import (
	"context"
	"slices"
)

// phases in which annotators have pairs of their own, with a prior estimated before each.
const phases = 4

// Estimate finds the reliability of each annotator and the probability of each label. It begins with the share of
// votes, goes on with one pair of rates for all annotators, and then gives each its own. Errors wrap ErrInput or
// ErrUnidentified, or are those of the options, of ctx, or of
// the group: where one rank fails, all do.
func Estimate(ctx context.Context, in Input, o Options) (*Result, error) {
	if o.ByLabel {
		return byLabel(ctx, &in, o)
	}
	if in.exclude() {
		return estimateExclusive(ctx, &in, o)
	}
	e, err := estimate(ctx, &in, o)
	if err != nil {
		return nil, err
	}
	return e.result(), nil
}

func estimate(ctx context.Context, in *Input, o Options) (*estimator, error) {
	seen, err := in.checked(o)
	if err != nil {
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

// checked reports who looked at the same bags, or why nothing can be estimated.
func (in *Input) checked(o Options) (overlap, error) {
	if err := in.checkOnAll(o); err != nil {
		return overlap{}, err
	}
	seen := in.overlap()
	return seen, in.identifiable(seen)
}
