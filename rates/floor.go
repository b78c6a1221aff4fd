package rates

import (
	"context"
	"fmt"

	"nmn/eval"
)

// Floor holds least rates, for noise that is suspected to depend on the sample: estimates are then too
// low, for hard bags lose their labels and the classifier calls them absent with good conscience.
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

// Apply returns the rates, none of them below its floor; unknown ones stay unknown.
func (f Floor) Apply(r *eval.Rates) *eval.Rates {
	out := eval.UnknownRates(len(r.Q01))
	for c := range r.Q01 {
		out.Q01[c], out.Q10[c] = max(r.Q01[c], f.Q01), max(r.Q10[c], f.Q10)
	}
	return out
}

// Floors finds how far rates can be raised before the labels speak against it. With L the summed
// -log p(z|o) of the model whose (a, b) are fitted anew for given rates, and N the expected number of
// true labels,
//
//	f01 = min(.25, the largest f with (L(max(q01,f), q10) - L(q01,q10))/N <= .005)
//
// and f10 likewise with the limit min(.1, 3 mean q10). The rates are those of Estimate for the same
// input and options.
func Floors(ctx context.Context, in Input, r *Result, o Options) (Floor, error) {
	if len(r.Classes) != in.Classes {
		return Floor{}, fmt.Errorf("noise rates: rates of %d classes for %d: %w", len(r.Classes), in.Classes, eval.ErrShape)
	}
	if err := o.Validate(); err != nil {
		return Floor{}, err
	}
	if err := in.check(); err != nil {
		return Floor{}, err
	}
	e, err := newEstimator(ctx, &in, o)
	if err != nil {
		return Floor{}, fmt.Errorf("floors of noise rates: %w", err)
	}
	classes := make([]floorClass, in.Classes)
	truePositives, mean10 := 0.0, 0.0
	for _, c := range r.Classes {
		truePositives += c.TruePositives
		mean10 += c.Q10 / float64(in.Classes)
	}
	// rise is the least f at which the labels object, for one of the rates.
	rise := func(which int, limit float64) (float64, error) {
		loss := func(f float64) (float64, error) {
			err := e.eachClass(ctx, func(c int, _ []float64) { classes[c].raise(which, f) })
			total := 0.0
			for _, c := range classes {
				total += c.loss
			}
			return total / truePositives, err
		}
		return largest(limit, loss)
	}
	err = e.eachClass(ctx, func(c int, _ []float64) {
		m := model{r.Classes[c].Q01, r.Classes[c].Q10, r.Classes[c].A, r.Classes[c].B}
		classes[c] = newFloorClass(m, e.columns[c], o)
	})
	if err != nil {
		return Floor{}, fmt.Errorf("floors of noise rates: %w", err)
	}
	var f Floor
	if f.Q01, err = rise(rate01, maxFloor01); err == nil {
		f.Q10, err = rise(rate10, min(maxFloor10, floorOfMean10*mean10))
	}
	if err != nil {
		return Floor{}, fmt.Errorf("floors of noise rates: %w", err)
	}
	return f, nil
}

// floorClass is a class whose rates are raised.
type floorClass struct {
	evidence evidence
	at       vector  // the estimate, with slope and shift fitted to its rates
	best     float64 // target there
	loss     float64 // what a floor costs
}

var ratesHeld = held{rate01: true, rate10: true}

func newFloorClass(m model, c column, o Options) floorClass {
	f := floorClass{evidence: evidence{summarise(m, c).cells, o.MinSlope, o.Confidence}}
	f.at, f.best = f.evidence.climb(m.parameters(), ratesHeld)
	return f
}

func (c *floorClass) raise(which int, floor float64) {
	v := c.at
	v[which] = max(v[which], logit(floor))
	_, target := c.evidence.climb(v, ratesHeld)
	c.loss = c.best - target
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
