package annotators

// Cell is a label of a bag.
type Cell struct {
	Class    int
	P        float64 // p(y=1 | labels)
	Evidence float64 // log p(labels | y=1) - log p(labels | y=0)
	Given    int     // annotators who gave it
	Asked    int     // annotators who were asked for it
	Holds    bool    // it was asked about, and p is at least .5 or, if classes exclude each other, the largest

	at int // its position among the cells of the estimator; -1 if no row names it
}

// Each calls f for the labels of a bag that a row names or that probably hold, ascending by class. No
// annotator gave any other label.
func (r *Result) Each(bag int, f func(Cell)) {
	for _, p := range r.parts {
		p.each(bag, func(c Cell) {
			c.Class += p.class
			f(c)
		})
	}
}

func (e *estimator) each(bag int, f func(Cell)) {
	at, end := e.cells.first[bag], e.cells.first[bag+1]
	whole := len(e.cells.whole.of(bag))
	next := 0
	// In most bags no class is probable unless a row names it; then the loop is skipped.
	if e.prior != nil && e.mostPrior+e.whole[bag] < 0 {
		next = e.in.Classes
	}
	unnamed := func(to int) {
		for ; next < to; next++ {
			if o := e.base(bag, next) + e.whole[bag]; o >= 0 {
				p, _ := sigmoidSoftplus(o)
				f(Cell{Class: next, P: p, Evidence: e.whole[bag], Given: 0, Asked: whole, Holds: whole > 0, at: -1})
			}
		}
	}
	for ; at < end; at++ {
		k := int(e.cells.class[at])
		unnamed(k)
		next = max(next, k+1)
		yes, asked := e.cells.votes(int(at))
		f(Cell{Class: k, P: e.rho[at], Evidence: e.evidence(int(at)), Given: yes, Asked: asked, Holds: e.rho[at] >= .5 &&
			asked > 0, at: int(at)})
	}
	unnamed(e.in.Classes)
}

// evidence is the log likelihood ratio of a cell.
func (e *estimator) evidence(cell int) float64 {
	sum := e.whole[e.cells.bag[cell]]
	for _, m := range e.cells.marks.of(cell) {
		sum += e.markWeight[m.who][m.kind]
	}
	return sum
}

// Posterior writes p(y=1 | labels) of all classes of a bag.
func (r *Result) Posterior(bag int, p []float64) {
	clear(p)
	for _, part := range r.parts {
		part.posterior(bag, p[part.class:part.class+part.classes])
	}
}

func (e *estimator) posterior(bag int, p []float64) {
	for k := range p {
		p[k], _ = sigmoidSoftplus(e.base(bag, k) + e.whole[bag])
	}
	for at := e.cells.first[bag]; at < e.cells.first[bag+1]; at++ {
		p[e.cells.class[at]] = e.rho[at]
	}
}

// Evidence writes log p(labels | y=1) - log p(labels | y=0) for all classes of a bag; 0 if no annotator was
// asked.
func (r *Result) Evidence(bag int, evidence []float64) {
	clear(evidence)
	for _, part := range r.parts {
		part.evidences(bag, evidence[part.class:part.class+part.classes])
	}
}

func (e *estimator) evidences(bag int, evidence []float64) {
	for k := range evidence {
		evidence[k] = e.whole[bag]
	}
	for at := e.cells.first[bag]; at < e.cells.first[bag+1]; at++ {
		evidence[e.cells.class[at]] = e.evidence(int(at))
	}
}
