package annotators

import (
	"context"
	"math"

	"nmn/internal/parallel"
	"nmn/labels"
)

// Bounds of rates, so that no label of one annotator decides alone, whatever the others say.
const (
	leastRate = 1e-6
	mostRate  = 1 - leastRate
)

// pair holds the error rates of labels: q01 is the rate of missing labels, q10 the rate of added ones.
type pair struct{ q01, q10 float64 }

// weights are the log likelihood ratios of a label that is given, and of one that is not.
func (q pair) weights() (w1, w0 float64) {
	return math.Log1p(-q.q01) - math.Log(q.q10), math.Log(q.q01) - math.Log1p(-q.q10)
}

// estimator is expectation and maximisation on one input.
type estimator struct {
	in           *Input
	overlap      overlap
	cells        *cells
	options      Options
	pairs        []pair    // per annotator
	free         []bool    // per annotator: it has its own pair; others keep the pooled pair
	prior        []float64 // per class without logits: logit pi
	mostPrior    float64   // the largest, in the end
	a, b         []float64 // per class with logits: slope and offset
	stepA, stepB []float64 // their last change
	center       pair      // mean of the prior of pairs
	weight       pair      // its strengths, in labels
	pooled       bool      // all annotators have one pair

	markWeight  [][markKinds]float64 // per annotator, by kind of mark
	wholeWeight []float64            // per annotator: w0
	rho         []float64            // per cell: p(y=1 | labels)
	whole       []float64            // per bag: the log likelihood ratio of classes without marks
	asked       []counts             // per annotator: all labels, and those that are given
	blocks      []sums
	total       sums
	objective   float64
	trace       []step
}

// counts are numbers of answers of an annotator.
type counts struct{ asked, given float64 }

// step is an iteration, for tests: the objective never falls within a phase.
type step struct {
	phase     int
	objective float64
}

// sums are the results of the expectation for the maximisation, over some bags.
type sums struct {
	likelihood float64
	true1      []float64         // per annotator: expected true labels among those that it gave
	true0      []float64         // and among those that it did not give
	class      []float64         // per class: expected true labels
	calibrated []labels.Logistic // per class, with logits
	points     []float64         // of each point of the grid of log likelihood ratios: bags
}

// blockBudget is how many numbers the sums of all blocks may hold.
const blockBudget = 1 << 24

func newEstimator(in *Input, o Options) *estimator {
	e := &estimator{in: in, cells: compile(in), options: o, pairs: make([]pair, in.Annotators),
		free: make([]bool, in.Annotators), markWeight: make([][markKinds]float64, in.Annotators),
		wholeWeight: make([]float64, in.Annotators), asked: make([]counts, in.Annotators), whole: make([]float64, in.Bags)}
	if in.Logits == nil {
		e.prior = make([]float64, in.Classes)
	} else {
		e.a, e.b = make([]float64, in.Classes), make([]float64, in.Classes)
		e.stepA, e.stepB = make([]float64, in.Classes), make([]float64, in.Classes)
		for k := range e.a {
			e.a[k] = 1
		}
	}
	e.rho = make([]float64, len(e.cells.class))
	// The number of blocks follows from the input alone: sums do not depend on the number of processors.
	e.blocks = make([]sums, max(1, min(64, (in.Bags+255)/256, blockBudget/(2*in.Annotators+6*in.Classes))))
	for i := range e.blocks {
		e.blocks[i] = newSums(in)
	}
	e.total = newSums(in)
	e.count()
	return e
}

func newSums(in *Input) sums {
	s := sums{true1: make([]float64, in.Annotators), true0: make([]float64, in.Annotators),
		class: make([]float64, in.Classes)}
	if in.Logits != nil {
		s.calibrated = make([]labels.Logistic, in.Classes)
	}
	return s
}

func (e *estimator) count() {
	for _, j := range e.cells.whole.all {
		e.asked[j].asked += float64(e.in.Classes)
	}
	for _, m := range e.cells.marks.all {
		e.asked[m.who].asked += ones[m.kind] + zeros[m.kind]
		e.asked[m.who].given += ones[m.kind]
	}
}

// inBlocks calls f for runs of bags, each block once, from as many goroutines as there are processors.
func (e *estimator) inBlocks(f func(s *sums, from, to int)) {
	n := len(e.blocks)
	parallel.Blocks(n, 1, func(b, _ int) {
		f(&e.blocks[b], b*e.in.Bags/n, (b+1)*e.in.Bags/n)
	})
}

// clear sets all sums to 0, and add adds the sums of another.
func (s *sums) clear() {
	s.likelihood = 0
	clear(s.true1)
	clear(s.true0)
	clear(s.class)
	clear(s.calibrated)
	clear(s.points)
}

func (s *sums) add(o *sums) {
	s.likelihood += o.likelihood
	for j := range s.true1 {
		s.true1[j] += o.true1[j]
		s.true0[j] += o.true0[j]
	}
	for k := range s.class {
		s.class[k] += o.class[k]
	}
	for k := range s.calibrated {
		s.calibrated[k].Plus(&o.calibrated[k])
	}
}

// vote makes the first expectation: the probability of a label is the share of annotators asked who gave it.
func (e *estimator) vote() {
	e.total.clear()
	for i := range e.in.Bags {
		sum := 0.0
		for at := e.cells.first[i]; at < e.cells.first[i+1]; at++ {
			rho := 0.0
			if yes, asked := e.cells.votes(int(at)); yes > 0 {
				rho = float64(yes) / float64(asked)
			}
			e.rho[at] = rho
			sum += rho
			e.total.class[e.cells.class[at]] += rho
			e.total.answered(e.cells.marks.of(int(at)), rho)
		}
		for _, j := range e.cells.whole.of(i) {
			e.total.true0[j] += sum
		}
	}
}

// answered adds the expected truth of a cell to the annotators who have marks there.
func (s *sums) answered(marks []mark, rho float64) {
	for _, m := range marks {
		s.true1[m.who] += rho * ones[m.kind]
		s.true0[m.who] += rho * zeros[m.kind]
	}
}

// expect computes the posterior of every cell, the sums, and the objective.
func (e *estimator) expect(ctx context.Context) error {
	e.weigh()
	for i := range e.in.Bags {
		e.whole[i] = 0
		for _, j := range e.cells.whole.of(i) {
			e.whole[i] += e.wholeWeight[j]
		}
	}
	g := e.gridOf()
	e.inBlocks(func(s *sums, from, to int) {
		s.clear()
		for i := from; i < to; i++ {
			e.expectBag(s, g, i)
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	e.total.clear()
	for b := range e.blocks {
		e.total.add(&e.blocks[b])
	}
	if g != nil {
		g.finish(&e.total)
	}
	e.objective = e.total.likelihood + e.untrue() + e.penalty()
	return nil
}

// weigh computes what every kind of answer of every annotator weighs.
func (e *estimator) weigh() {
	for j, q := range e.pairs {
		w1, w0 := q.weights()
		e.wholeWeight[j] = w0
		for kind := range e.markWeight[j] {
			e.markWeight[j][kind] = ones[kind]*w1 + zeros[kind]*w0
		}
	}
}

func (e *estimator) expectBag(s *sums, g *grid, i int) {
	whole := e.whole[i]
	var expected, likelihood float64
	if g != nil {
		expected, likelihood = g.bag(s, i)
	} else {
		expected, likelihood = e.direct(s, i)
	}
	for at := e.cells.first[i]; at < e.cells.first[i+1]; at++ {
		k := e.cells.class[at]
		without := e.base(i, int(k)) + whole
		with := without
		marks := e.cells.marks.of(int(at))
		for _, m := range marks {
			with += e.markWeight[m.who][m.kind]
		}
		rho0, soft0 := sigmoidSoftplus(without)
		rho, soft := sigmoidSoftplus(with)
		e.rho[at] = rho
		likelihood += soft - soft0
		expected += rho - rho0
		s.class[k] += rho - rho0
		if s.calibrated != nil {
			s.calibrated[k].Add(rho-rho0, 0, float64(e.in.Logits[i*e.in.Classes+int(k)]))
		}
		s.answered(marks, rho)
	}
	s.likelihood += likelihood
	expected = max(expected, 0) // if all labels are certain, rounding may give less than 0
	for _, j := range e.cells.whole.of(i) {
		s.true0[j] += expected
	}
}

// base is the logit of p(y=1) before any label.
func (e *estimator) base(bag, class int) float64 {
	if e.in.Logits == nil {
		return e.prior[class]
	}
	return e.a[class]*float64(e.in.Logits[bag*e.in.Classes+class]) + e.b[class]
}

// sigmoidSoftplus returns 1/(1+e^-x) and log(1+e^x).
func sigmoidSoftplus(x float64) (p, soft float64) {
	t := math.Exp(-math.Abs(x))
	p = 1 / (1 + t)
	if soft = math.Log1p(t); x >= 0 {
		return p, soft + x
	}
	return t * p, soft
}

// untrue returns the log likelihood of all answers if no label held. The likelihood of the sums is relative
// to it.
func (e *estimator) untrue() float64 {
	sum := 0.0
	for j, q := range e.pairs {
		c := e.asked[j]
		sum += c.given*math.Log(q.q10) + (c.asked-c.given)*math.Log1p(-q.q10)
	}
	return sum
}

// climb alternates expectation and maximisation until the objective gains less than the tolerance. It ends after an
// expectation.
func (e *estimator) climb(ctx context.Context, phase int, tolerance float64) error {
	last := math.Inf(-1)
	for range e.options.Iterations {
		if err := e.expect(ctx); err != nil {
			return err
		}
		if e.a != nil && e.objective < last {
			if err := e.retreat(ctx, last); err != nil {
				return err
			}
		}
		e.trace = append(e.trace, step{phase, e.objective})
		if e.objective-last <= tolerance*(1+math.Abs(e.objective)) {
			return nil
		}
		last = e.objective
		e.maximise()
	}
	if err := e.expect(ctx); err != nil {
		return err
	}
	e.trace = append(e.trace, step{phase, e.objective})
	return nil
}

// Ridge of the calibration of logits: slopes are drawn to 1 and offsets to 0, as with captions as witnesses.
const (
	slopeRidge  = 50.
	offsetRidge = 5.
)

// ridged is the Newton step of a class with slope a and offset b.
func ridged(s labels.Logistic, a, b float64) (da, db float64) {
	s.A, s.B = s.A-slopeRidge*(a-1), s.B-offsetRidge*b
	s.AA, s.BB = s.AA+slopeRidge, s.BB+offsetRidge
	return s.Step()
}

// calibrate makes a Newton step of the logistic regression of the posterior on the logits, class by class.
func (e *estimator) calibrate() {
	for k := range e.a {
		e.stepA[k], e.stepB[k] = ridged(e.total.calibrated[k], e.a[k], e.b[k])
		e.a[k] += e.stepA[k]
		e.b[k] += e.stepB[k]
	}
}

// retreat halves the last step of the calibration until the objective is no lower than before: far from the maximum a
// Newton step may lead beyond it. The rates keep theirs, which never lowers the objective.
func (e *estimator) retreat(ctx context.Context, last float64) error {
	for range 30 {
		for k := range e.a {
			e.stepA[k] /= 2
			e.stepB[k] /= 2
			e.a[k] -= e.stepA[k]
			e.b[k] -= e.stepB[k]
		}
		if err := e.expect(ctx); err != nil || e.objective >= last {
			return err
		}
	}
	return nil
}
