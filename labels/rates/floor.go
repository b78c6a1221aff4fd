package rates

import (
	"context"
	"fmt"
	"slices"

	"nmn/eval"
)

// Floor holds least rates, for noise that is suspected to depend on the sample: estimates are then too
// low, for hard bags lose their labels and the classifier is sure that they are absent.
type Floor struct {
	Q01 float64 `json:"q01"`
	Q10 float64 `json:"q10"`
}

// How much worse the labels may be explained with a floor than without, in nats for each true label,
// and how high a floor may be.
const (
	floorLoss     = .005
	maxFloor01    = .25
	maxFloor10    = .1
	floorOfMean10 = 3 // times the mean q10
)

// RaiseToFloor finds how far rates can be raised before the labels speak against it, and raises those below.
// With L the summed -log p(z|o) of the model whose (a, b) are fitted anew for given rates, and N the
// expected number of true labels,
//
//	f01 = min(.25, the largest f with (L(max(q01,f), q10) - L(q01,q10))/N <= .005)
//
// and f10 in the same way with the limit min(.1, 3 mean q10). r is the result of Estimate for the same input
// and options; it is not changed. In the new result, rates are at least the floor. Slope, shift and the
// expected number of true labels match the new rates, and intervals include them.
func RaiseToFloor(ctx context.Context, in Input, r *Result, o Options) (*Result, Floor, error) {
	if len(r.Classes) != in.Classes {
		return nil, Floor{}, fmt.Errorf("noise rates: rates of %d classes for %d: %w", len(r.Classes), in.Classes,
			eval.ErrShape)
	}
	if err := check(&in, o); err != nil {
		return nil, Floor{}, err
	}
	if len(o.Verified) > 0 {
		return r, Floor{}, nil
	}
	s, err := newFloorSearch(ctx, &in, r, o)
	if err != nil {
		return nil, Floor{}, fmt.Errorf("floors of noise rates: %w", err)
	}
	var f Floor
	if f.Q01, err = s.rise(ctx, rate01, maxFloor01); err == nil {
		f.Q10, err = s.rise(ctx, rate10, min(maxFloor10, floorOfMean10*s.mean10))
	}
	if err != nil {
		return nil, Floor{}, fmt.Errorf("floors of noise rates: %w", err)
	}
	raised := *r
	raised.Classes = slices.Clone(r.Classes)
	for c := range raised.Classes {
		raised.Classes[c].lift(f, &s.classes[c])
	}
	return &raised, f, nil
}

// lift raises the rates of a class, and of its beliefs, that lie below the floor.
func (c *Class) lift(f Floor, at *floorClass) {
	c.Beliefs = slices.Clone(c.Beliefs)
	for i := range c.Beliefs {
		b := &c.Beliefs[i]
		if b.Q01 < f.Q01 || b.Q10 < f.Q10 {
			b.Q01, b.Q10 = max(b.Q01, f.Q01), max(b.Q10, f.Q10)
			fitted, _ := at.refit(b.Q01, b.Q10)
			b.A, b.B = fitted[slope], fitted[shift]
		}
	}
	if c.Q01 >= f.Q01 && c.Q10 >= f.Q10 {
		return
	}
	c.Q01, c.Q10 = max(c.Q01, f.Q01), max(c.Q10, f.Q10)
	c.Q01Interval.High, c.Q10Interval.High = max(c.Q01Interval.High, c.Q01), max(c.Q10Interval.High, c.Q10)
	fitted, _ := at.refit(c.Q01, c.Q10)
	c.A, c.B = fitted[slope], fitted[shift]
	c.TruePositives = at.evidence.truePositives(fitted)
}

// floorSearch looks for the floor that all classes can bear together.
type floorSearch struct {
	estimator     *estimator
	rates         []Class
	classes       []floorClass
	truePositives float64
	mean10        float64
}

func newFloorSearch(ctx context.Context, in *Input, r *Result, o Options) (*floorSearch, error) {
	e, err := newEstimator(ctx, in, o)
	if err != nil {
		return nil, err
	}
	s := &floorSearch{estimator: e, rates: r.Classes, classes: make([]floorClass, in.Classes)}
	for _, c := range r.Classes {
		s.truePositives += c.TruePositives
		s.mean10 += c.Q10 / float64(in.Classes)
	}
	return s, eachColumn(ctx, in, o.Workers, func(c int, rows column) {
		s.classes[c] = newFloorClass(&r.Classes[c], rows, o)
	})
}

// rise is the largest floor of one of the rates, up to a limit, that the labels bear.
func (s *floorSearch) rise(ctx context.Context, which int, limit float64) (float64, error) {
	losses := make([]float64, len(s.classes))
	return largest(limit, func(f float64) (float64, error) {
		err := s.estimator.eachClass(ctx, func(c int, _ []float64) {
			q01, q10 := s.rates[c].Q01, s.rates[c].Q10
			if which == rate01 {
				q01 = max(q01, f)
			} else {
				q10 = max(q10, f)
			}
			_, target := s.classes[c].refit(q01, q10)
			losses[c] = s.classes[c].best - target
		})
		if err != nil {
			return 0, err
		}
		total := 0.0
		for _, loss := range losses {
			total += loss
		}
		return total / s.truePositives, nil
	})
}

// floorClass is a class whose rates are raised.
type floorClass struct {
	evidence evidence
	at       vector  // the estimate, with slope and shift fitted to its rates
	best     float64 // target there
}

func newFloorClass(c *Class, rows column, o Options) floorClass {
	m := model{q01: c.Q01, q10: c.Q10, a: c.A, b: c.B}
	f := floorClass{evidence: evidence{cells: summarise(m, rows).cells, minSlope: o.MinSlope, confidence: o.Confidence},
		at: m.parameters()}
	f.at, f.best = f.refit(c.Q01, c.Q10)
	return f
}

// refit fits slope and shift to given rates, and returns the target there.
func (c *floorClass) refit(q01, q10 float64) (vector, float64) {
	v := c.at
	v[rate01], v[rate10] = logit(q01), logit(q10)
	return c.evidence.climb(v, held{rate01: true, rate10: true})
}

// truePositives is the sum of the posteriors.
func (e *evidence) truePositives(v vector) (sum float64) {
	m := model{q01: Sigmoid(v[rate01]), q10: Sigmoid(v[rate10])}
	for _, c := range e.cells {
		o := v[slope]*c.score + v[shift]
		sum += c.present*Posterior(o, 1, m.q01, m.q10) + c.absent*Posterior(o, 0, m.q01, m.q10)
	}
	return sum
}

// largest finds by halving the largest f up to the limit that costs at most floorLoss.
func largest(limit float64, loss func(f float64) (float64, error)) (float64, error) {
	const least = 1e-4
	lo, hi := 0.0, limit
	for at := limit; ; at = (lo + hi) / 2 {
		cost, err := loss(max(at, zeroRate))
		if err != nil {
			return 0, err
		}
		if cost <= floorLoss {
			if lo = at; at == limit {
				return limit, nil
			}
		} else {
			hi = at
		}
		if hi-lo < least {
			return lo, nil
		}
	}
}
