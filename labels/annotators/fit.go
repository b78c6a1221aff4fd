package annotators

import "math"

// fit compares, class by class, how often two annotators of a bag give the same label with what their rates explain.
type fit struct {
	e                *estimator
	true1, untrue    float64   // pairs of labels expected over all bags if a class held everywhere, and nowhere
	observed, square []float64 // per class: pairs, and the sum of their squares over bags
}

func newFit(e *estimator) *fit {
	f := &fit{e: e, observed: make([]float64, e.in.Classes), square: make([]float64, e.in.Classes)}
	for i := range e.in.Bags {
		var s, s2, u, u2 float64
		for _, j := range e.cells.whole.of(i) {
			q := e.pairs[j]
			s, s2 = s+1-q.q01, s2+(1-q.q01)*(1-q.q01)
			u, u2 = u+q.q10, u2+q.q10*q.q10
		}
		f.true1 += s*s - s2
		f.untrue += u*u - u2
	}
	return f
}

func (f *fit) observe(c Cell) {
	n := float64(c.Given) * float64(c.Given-1)
	f.observed[c.Class] += n
	f.square[c.Class] += n * n
}

// Thresholds above which a class is reported: in standard deviations, and as a share of what is explained.
const (
	misfitDeviations = 4
	misfitShare      = .2
)

// misfit lists the classes whose pairs the model does not explain. If annotators were asked about some
// classes only, the expected number is unknown and no class is reported.
func (f *fit) misfit() (list []int) {
	for i := range f.e.in.Rows {
		if r := &f.e.in.Rows[i]; r.Asked != nil || len(r.Unknown) > 0 {
			return nil
		}
	}
	for k, n := range f.observed {
		frequency := f.e.total.class[k] / float64(f.e.in.Bags)
		expected := frequency*f.true1 + (1-frequency)*f.untrue
		off := math.Abs(n - expected)
		// The sum of squares bounds the variance of a sum over bags from above.
		if off > misfitDeviations*math.Sqrt(f.square[k]) && off > misfitShare*expected && f.square[k] > 0 {
			list = append(list, k)
		}
	}
	return list
}
