package rates

import (
	"context"

	"nmn/internal/parallel"
)

// counts are the expected numbers that determine the rates: true labels and the missing ones among them,
// false labels and the observed ones among them.
type counts struct {
	true1, missing   float64
	true0, incorrect float64
}

func (c *counts) add(n counts) {
	c.true1 += n.true1
	c.missing += n.missing
	c.true0 += n.true0
	c.incorrect += n.incorrect
}

// prior draws rates towards q01 and q10 with the weight of the given numbers of labels.
type prior struct {
	q01, strength01 float64
	q10, strength10 float64
}

// The pooled phase has hardly a prior.
var pooledPrior = prior{q01: .1, strength01: .001, q10: .01, strength10: .001}

// rates are the most likely ones under the prior.
func (c counts) rates(p prior) (q01, q10 float64) {
	q01 = within((c.missing+p.strength01*p.q01)/(c.true1+p.strength01), minQ01, maxQ01)
	q10 = within((c.incorrect+p.strength10*p.q10)/(c.true0+p.strength10), minQ10, maxQ10)
	return q01, q10
}

// start is the initial model of all classes.
var start = model{q01: .2, q10: .02, a: 1, b: 0}

// warmUp is how many iterations of each phase leave the rates alone: the slope has to settle first.
const warmUp = 3

// iterate makes one E-step and fits (a, b) to its posteriors by two Newton steps. The first shares its
// exponentials with the E-step. It returns the expected counts, from which the caller updates the rates.
// posteriors is working memory for all nodes.
func (m *model) iterate(c *class, minSlope float64, posteriors []float64) counts {
	rp, ra := posteriors[:len(c.present.x)], posteriors[len(c.present.x):]
	p, a := m.expect(1, c.present, rp), m.expect(0, c.absent, ra)
	expected := counts{
		true1: p.r + a.r, missing: a.r,
		true0:     float64(c.bags()) - p.r - a.r,
		incorrect: float64(c.presentRows) - p.r,
	}
	m.step(p.plus(a), minSlope)
	m.step(m.refine(c.present, rp).plus(m.refine(c.absent, ra)), minSlope)
	return expected
}

// estimator holds the state of Estimate.
type estimator struct {
	options  Options
	in       *Input
	classes  []class
	models   []model
	say      []bool // the classes that the pooled rates are made of
	progress parallel.Progress
}

// eachClass runs a task on every class, with working memory for the posteriors of its nodes.
func (e *estimator) eachClass(ctx context.Context, task func(class int, posteriors []float64)) error {
	return parallel.Run(ctx, len(e.classes), e.options.Workers, func() func(int) {
		var posteriors []float64
		return func(c int) {
			n := e.classes[c].nodes()
			if len(posteriors) < n {
				posteriors = make([]float64, n)
			}
			task(c, posteriors[:n])
		}
	})
}

// pooled is the first phase: one pair of rates for all classes, a slope and a shift for each. Classes
// with too few labels have no say in the rates, unless there are no others: one that all bags carry
// would turn every label into noise.
func (e *estimator) pooled(ctx context.Context) error {
	perClass := make([]counts, len(e.classes))
	for i := range e.options.Iterations {
		err := e.eachClass(ctx, func(c int, posteriors []float64) {
			perClass[c] = e.models[c].iterate(&e.classes[c], e.options.MinSlope, posteriors)
		})
		e.progress.Add(len(e.classes))
		if err != nil {
			return err
		}
		if i < warmUp {
			continue
		}
		var all counts
		for c, n := range perClass {
			if e.say[c] {
				all.add(n)
			}
		}
		q01, q10 := all.rates(pooledPrior)
		for c := range e.models {
			e.models[c].q01, e.models[c].q10 = q01, q10
		}
	}
	return nil
}

// perClass is the second phase: every class on its own, drawn towards the pooled rates.
func (e *estimator) perClass(ctx context.Context, p prior) error {
	return e.eachClass(ctx, func(c int, posteriors []float64) {
		m := &e.models[c]
		for i := range e.options.Iterations {
			if ctx.Err() != nil {
				return
			}
			expected := m.iterate(&e.classes[c], e.options.MinSlope, posteriors)
			if i >= warmUp {
				m.q01, m.q10 = expected.rates(p)
			}
		}
		e.progress.Add(e.options.Iterations)
	})
}
