package multiclass

import (
	"context"
	"math"
	"slices"
)

// Priors: the logarithm of the slope and each shift are N(0, .5²), the log-odds of the rate N(-2, 1.5²).
const (
	precision     = 4.
	rateMean      = -2.
	ratePrecision = 1 / (1.5 * 1.5)
)

// Limits of steps and parameters.
const (
	maxStep, maxRateStep = .3, 1.
	minSlope, maxSlope   = .2, 8.
	maxShift             = 10.
	minOdds, maxOdds     = -9., 3. // bounds of the rate, as logarithms
	settled              = 1e-3    // gain of the objective that is worth no other iteration
	leastIterations      = 6
	mostIterations       = 60
	strength             = 30. // weight of the prior on a row of T, in labels
)

// fitting is what all fits share.
type fitting struct {
	*sample
	ctx context.Context
	err error // the first; sums are 0 from then on
}

// kinds fits every kind of noise to the rows of a side. The likelihood of even noise may have two peaks, so
// fit starts from two points. If there are too many classes, Directed is the fit of even noise.
func (f *fitting) kinds(m Model, side int) [kinds]*Model {
	var out [kinds]*Model
	m.Noise = Unknown
	out[Unknown], _ = f.fit(m, side)
	m.Noise = Even
	best := math.Inf(-1)
	for _, m.rate = range []float64{.05, .3} {
		if fitted, objective := f.fit(m, side); objective > best {
			out[Even], best = fitted, objective
		}
	}
	if out[Directed] = out[Even]; m.Classes <= mostFree {
		m = *out[Even]
		m.Noise, m.given = Directed, even(max(m.rate, firstRate), m.Classes)
		out[Directed], _ = f.fit(m, side)
	}
	return out
}

// fit maximises the likelihood of the labels with the priors, starting at m. Rate, slope and shifts take
// Newton steps, with the sum of the squares of each row's gradient as the curvature (Berndt, Hall, Hall and
// Hausman, 1974), shifts one at a time. A free T is fitted by expectation and maximisation. It returns the
// objective at the end.
func (f *fitting) fit(m Model, side int) (*Model, float64) {
	best, reached, by, damping := m, math.Inf(-1), step{}, 1.
	for i := range mostIterations {
		s := f.pass(&m, side)
		objective := s[likelihood] + m.prior()
		if gain := objective - reached; gain >= 0 || m.freeT() {
			best, reached = m, objective
			if i >= leastIterations && gain < settled {
				break
			}
			by = m.step(s)
		} else if damping /= 2; damping < settled {
			break
		}
		m = best.moved(by, damping)
		if m.freeT() {
			m.given, m.Pooled = drawn(s[sumsOf(m.Classes):], m.Classes)
		}
	}
	return &best, reached
}

func (m *Model) freeT() bool { return m.Noise == Directed && !m.held }

func odds(rate float64) float64 { return math.Log(rate / (1 - rate)) }

// prior is the logarithm of the prior density of the parameters.
func (m *Model) prior() float64 {
	squares := math.Log(m.A) * math.Log(m.A)
	for _, b := range m.B {
		squares += b * b
	}
	out := -precision / 2 * squares
	if m.Noise == Even {
		out -= ratePrecision / 2 * (odds(m.rate) - rateMean) * (odds(m.rate) - rateMean)
	}
	return out
}

// step is a step of the parameters.
type step struct {
	odds, slope float64 // both are logarithms
	shifts      []float64
}

func (m *Model) step(s []float64) step {
	k := m.Classes
	by := step{shifts: make([]float64, k)}
	g, h := s[slope]-precision*math.Log(m.A), s[slopeSquare]+precision
	by.slope = g / h
	if m.Noise == Even {
		e, ee, cross := s[wrong]-ratePrecision*(odds(m.rate)-rateMean), s[wrongSquare]+ratePrecision, s[cross]
		if det := ee*h - cross*cross; det > 0 {
			by.odds, by.slope = (h*e-cross*g)/det, (ee*g-cross*e)/det
		}
	}
	for y := range k { // half of a step of its own, for a shift of one class is one of all others the other way
		by.shifts[y] = .5 * (s[shift+y] - precision*m.B[y]) / (s[shift+k+y] + precision)
	}
	return by
}

func within(x, limit float64) float64 { return min(max(x, -limit), limit) }

func (m Model) moved(by step, damping float64) Model {
	m.A = min(max(m.A*math.Exp(within(damping*by.slope, maxStep)), minSlope), maxSlope)
	m.B = slices.Clone(m.B)
	for y, s := range by.shifts {
		m.B[y] = within(m.B[y]+within(damping*s, maxStep), maxShift)
	}
	if m.Noise == Even {
		to := odds(m.rate) + within(damping*by.odds, maxRateStep)
		m.rate = 1 / (1 + math.Exp(-min(max(to, minOdds), maxOdds)))
	}
	return m
}

// drawn is T by label from the counts of its cells, by label too, each row drawn to the rate of all of them; and the
// rate.
func drawn(counts []float64, k int) ([]float64, float64) {
	sizes, all, right := make([]float64, k), 0., 0.
	for z := range k {
		for y, n := range counts[z*k : (z+1)*k] {
			sizes[y] += n
			all += n
		}
		right += counts[z*k+z]
	}
	rate := min(max((all-right+1)/(all+8), leastRate), mostRate)
	t := even(rate, k)
	for z := range k {
		for y, n := range counts[z*k : (z+1)*k] {
			t[z*k+y] = (n + strength*t[z*k+y]) / (sizes[y] + strength)
		}
	}
	return t, rate
}
