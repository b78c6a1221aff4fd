package annotators

import (
	"math"

	"nmn/internal/parallel"
)

// Grid of the log likelihood ratios of bags. Interpolation between six points so far apart is right to about 1e-10 of
// the value.
const (
	gridStep   = 1. / 16
	gridPoints = 6
	gridReach  = 50. // below its negative no label is left; above it there is no grid
)

// gridOf returns the grid on which classes without marks are summed up, or nil if they are better summed up bag by bag.
// It is made anew in every iteration.
func (e *estimator) gridOf() *grid {
	if e.a != nil {
		return nil
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, w := range e.whole {
		w = max(w, -gridReach)
		lo, hi = min(lo, w), max(hi, w)
	}
	points := int(min((hi-lo)/gridStep, math.MaxInt32)) + gridPoints
	if hi > gridReach || e.in.Bags <= points {
		return nil
	}
	return newGrid(e, lo, points)
}

// direct returns the sums over all classes of a bag, as if it had no marks, of p(y=1), and of softplus(base + whole) -
// softplus(base).
func (e *estimator) direct(s *sums, bag int) (expected, likelihood float64) {
	for k := range e.in.Classes {
		base := e.base(bag, k)
		p, soft := sigmoidSoftplus(base)
		rho, with := sigmoidSoftplus(base + e.whole[bag])
		expected += rho
		likelihood += with - soft
		s.class[k] += rho
		if s.calibrated != nil {
			s.calibrated[k].Add(rho-p, p*(1-p), float64(e.in.Logits[bag*e.in.Classes+k]))
		}
	}
	return expected, likelihood
}

// grid sums over classes once for each point of a grid. The sums of a bag depend only on whole, its log
// likelihood ratio of labels that no annotator gave, so they are interpolated. Sums over bags use the
// transposed weights, so sums by class and by bag agree.
type grid struct {
	e                    *estimator
	lo                   float64   // value of the first point
	expected, likelihood []float64 // per point
}

func newGrid(e *estimator, lo float64, points int) *grid {
	g := &grid{e: e, lo: lo - (gridPoints/2-1)*gridStep, expected: make([]float64, points),
		likelihood: make([]float64, points)}
	soft0 := make([]float64, e.in.Classes)
	for k, prior := range e.prior {
		_, soft0[k] = sigmoidSoftplus(prior)
	}
	parallel.Blocks(points, 1, func(m, _ int) {
		x := g.lo + float64(m)*gridStep
		for k, prior := range e.prior {
			rho, soft := sigmoidSoftplus(prior + x)
			g.expected[m] += rho
			g.likelihood[m] += soft - soft0[k]
		}
	})
	for b := range e.blocks {
		if s := &e.blocks[b]; cap(s.points) >= points {
			s.points = s.points[:points]
		} else {
			s.points = make([]float64, points)
		}
	}
	return g
}

// place returns the first of the points between which the value of a bag lies, and their weights (Lagrange).
func (g *grid) place(whole float64) (first int, weights [gridPoints]float64) {
	t := (max(whole, -gridReach) - g.lo) / gridStep
	first = min(max(int(t)-(gridPoints/2-1), 0), len(g.expected)-gridPoints)
	t -= float64(first)
	for m := range weights {
		w := lagrange[m]
		for n := range gridPoints {
			if n != m {
				w *= t - float64(n)
			}
		}
		weights[m] = w
	}
	return first, weights
}

// lagrange are 1 / prod (m - n) over all n other than m, from 0 to 5.
var lagrange = [gridPoints]float64{-1. / 120, 1. / 24, -1. / 12, 1. / 12, -1. / 24, 1. / 120}

// bag is direct on the grid. It leaves the sums by class to finish.
func (g *grid) bag(s *sums, bag int) (expected, likelihood float64) {
	first, weights := g.place(g.e.whole[bag])
	for m, w := range weights {
		expected += w * g.expected[first+m]
		likelihood += w * g.likelihood[first+m]
		s.points[first+m] += w
	}
	return expected, likelihood
}

// finish sums over bags, by class.
func (g *grid) finish(total *sums) {
	bags := make([]float64, len(g.expected))
	for b := range g.e.blocks {
		for m, w := range g.e.blocks[b].points {
			bags[m] += w
		}
	}
	parallel.Blocks(g.e.in.Classes, 1, func(k, _ int) {
		for m, w := range bags {
			if w != 0 {
				rho, _ := sigmoidSoftplus(g.e.prior[k] + g.lo + float64(m)*gridStep)
				total.class[k] += w * rho
			}
		}
	})
}
