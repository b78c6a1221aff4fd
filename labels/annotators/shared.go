package annotators

import "nmn/internal/parallel"

// shared is the observed information on what annotators have in common: a shift of all logits of q01 and one
// of all logits of q10, with the frequency of each class free. If few annotators look at each bag, labels
// leave this open: either all annotators miss more, or fewer labels are true. Its inverse is added to the
// covariance that each pair has while the others are held fixed.
type shared struct {
	e         *estimator
	uncertain []uncertain // per annotator
	missing   information // sums of p(y=1) p(y=0) times the slopes of a label's log-odds
	class     []coupled   // per class
	weights   []coupled   // per grid point
	grid      *grid
}

// coupled are sums of p(y=1) p(y=0), and of that times the slopes of the log-odds by either shift.
type coupled struct{ one, s01, s10 float64 }

func (c *coupled) add(v float64, s slopes) {
	c.one += v
	c.s01 += v * s.s01
	c.s10 += v * s.s10
}

// slopes are the derivatives of a label's log-odds by the shifts.
type slopes struct{ s01, s10 float64 }

// slopes returns the slopes of labels 1 and labels 0 by one annotator.
func (q pair) slopes(ones, zeros float64) slopes {
	return slopes{zeros*(1-q.q01) - ones*q.q01, zeros*q.q10 - ones*(1-q.q10)}
}

func (s *slopes) add(o slopes) {
	s.s01 += o.s01
	s.s10 += o.s10
}

// newShared sums over all labels. It comes after an expectation.
func newShared(e *estimator) *shared {
	h := &shared{e: e, uncertain: make([]uncertain, e.in.Annotators), class: make([]coupled, e.in.Classes)}
	variance := h.bagVariance()
	for i := range e.in.Bags {
		var whole slopes
		for _, j := range e.cells.whole.of(i) {
			whole.add(e.pairs[j].slopes(0, 1))
		}
		sum := variance(i, whole)
		h.take(sum, whole)
		for at := e.cells.first[i]; at < e.cells.first[i+1]; at++ {
			sum += h.cell(int(at), whole)
		}
		for _, j := range e.cells.whole.of(i) {
			h.uncertain[j].absent += sum
		}
	}
	h.finish()
	return h
}

// take adds a label to the missing ones.
func (h *shared) take(v float64, s slopes) {
	h.missing.i01 += v * s.s01 * s.s01
	h.missing.both += v * s.s01 * s.s10
	h.missing.i10 += v * s.s10 * s.s10
}

// cell replaces a label that no annotator gave by a cell, and returns the change of p(y=1) p(y=0).
func (h *shared) cell(at int, whole slopes) float64 {
	e := h.e
	i, k := int(e.cells.bag[at]), int(e.cells.class[at])
	without, _ := sigmoidSoftplus(e.base(i, k) + e.whole[i])
	v, v0 := e.rho[at]*(1-e.rho[at]), without*(1-without)
	h.take(-v0, whole)
	h.class[k].add(-v0, whole)
	for _, m := range e.cells.marks.of(at) {
		whole.add(e.pairs[m.who].slopes(ones[m.kind], zeros[m.kind]))
		h.uncertain[m.who].given += v * ones[m.kind]
		h.uncertain[m.who].absent += v * zeros[m.kind]
	}
	h.take(v, whole)
	h.class[k].add(v, whole)
	return v - v0
}

// bagVariance gives the sum of p(y=1) p(y=0) over all classes of a bag as if it had no cells.
func (h *shared) bagVariance() func(bag int, s slopes) float64 {
	e := h.e
	if h.grid = e.gridOf(); h.grid == nil {
		return func(bag int, s slopes) (sum float64) {
			for k := range e.in.Classes {
				rho, _ := sigmoidSoftplus(e.base(bag, k) + e.whole[bag])
				v := rho * (1 - rho)
				h.class[k].add(v, s)
				sum += v
			}
			return sum
		}
	}
	points := make([]float64, len(h.grid.expected))
	h.weights = make([]coupled, len(points))
	parallel.Blocks(len(points), 1, func(m, _ int) {
		for _, prior := range e.prior {
			rho, _ := sigmoidSoftplus(prior + h.grid.lo + float64(m)*gridStep)
			points[m] += rho * (1 - rho)
		}
	})
	return func(bag int, s slopes) (sum float64) {
		first, weights := h.grid.place(e.whole[bag])
		for m, w := range weights {
			sum += w * points[first+m]
			h.weights[first+m].add(w, s)
		}
		return sum
	}
}

// finish takes the sums on the grid to the classes.
func (h *shared) finish() {
	if h.grid == nil {
		return
	}
	parallel.Blocks(len(h.class), 1, func(k, _ int) {
		for m, w := range h.weights {
			rho, _ := sigmoidSoftplus(h.e.prior[k] + h.grid.lo + float64(m)*gridStep)
			v := rho * (1 - rho)
			h.class[k].one += v * w.one
			h.class[k].s01 += v * w.s01
			h.class[k].s10 += v * w.s10
		}
	})
}

// covariance returns the covariance of the shifts; ok is false if labels do not determine them.
func (h *shared) covariance() (v information, ok bool) {
	e := h.e
	known := information{-h.missing.i01, -h.missing.both, -h.missing.i10}
	for j, q := range e.pairs {
		t := e.total.expected(j, e.asked[j])
		known.i01 += (t.missed + t.found) * q.q01 * (1 - q.q01)
		known.i10 += (t.absent + t.invented) * q.q10 * (1 - q.q10)
	}
	for k, c := range h.class {
		frequency := e.baseVariance(k) - c.one
		if frequency <= 0 {
			continue // the class carries no information on the shifts
		}
		known.i01 -= c.s01 * c.s01 / frequency
		known.both -= c.s01 * c.s10 / frequency
		known.i10 -= c.s10 * c.s10 / frequency
	}
	return known.covariance()
}

// baseVariance is what would be known of the frequency of a class, on the scale of logits, if the truth were.
func (e *estimator) baseVariance(class int) float64 {
	if e.prior != nil {
		p, _ := sigmoidSoftplus(e.prior[class])
		return (float64(e.in.Bags) + 2*half) * p * (1 - p)
	}
	return e.total.calibrated[class].BB + offsetRidge
}
