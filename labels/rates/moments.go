package rates

import (
	"math"

	"nmn/labels"
)

// model is the noise model of a class: p(z=1|o) = q10 + (1 - q01 - q10) sigmoid(a o + b).
type model struct {
	q01, q10, a, b float64
}

// How far logits and parameters may go.
const (
	maxLogit                = 300 // beyond it a sigmoid is 0 or 1 in float64, and no product overflows
	leastRate               = 1e-6
	minQ01, maxQ01          = 1e-4, .95
	minQ10, maxQ10          = 1e-5, .6
	maxSlope                = 8
	maxShift                = 10
	slopeRidge, shiftRidge  = .1, .001 // pull a to 1 and b to 0
	shiftDamping            = .002
	maxSlopeStep, maxBShift = .5, 1
)

// moments are sums over rows: the gradient and the Hessian of the cross entropy between r and
// p = sigmoid(a o + b), and the sum of r itself.
type moments struct {
	labels.Logistic
	r float64
}

func (m moments) plus(o moments) moments {
	m.Plus(&o.Logistic)
	m.r += o.r
	return m
}

// likelihood is p(z|y=1) and p(z|y=0) of a label.
type likelihood struct{ true1, true0 float64 }

func (m model) of(z uint8) likelihood {
	q01, q10 := within(m.q01, leastRate, 1-leastRate), within(m.q10, leastRate, 1-leastRate)
	if z == 1 {
		return likelihood{1 - q01, q10}
	}
	return likelihood{q01, 1 - q10}
}

// expect writes the posterior r = p(y=1|z,o) at nodes of rows with the label z and sums the moments at it.
// One exponential e = exp(-s) gives both: with u = 1 + e and v = p(z|y=1) + p(z|y=0) e
//
//	p = 1/u        r = p(z|y=1)/v
func (m model) expect(label uint8, n nodes, r []float64) (sums moments) {
	z := m.of(label)
	r, weights := r[:len(n.x)], n.w[:len(n.x)]
	for i, x := range n.x {
		w := weights[i]
		e := exp(-clampLogit(m.a*x + m.b))
		u, v := 1+e, z.true1+z.true0*e
		inverse := 1 / (u * v)
		p, posterior := v*inverse, z.true1*u*inverse
		r[i] = posterior
		sums.r += w * posterior
		sums.Add(w*(p-posterior), w*(e*p*p), x)
	}
	return sums
}

// refine sums the moments at posteriors that were written before.
func (m model) refine(n nodes, r []float64) (sums moments) {
	r, weights := r[:len(n.x)], n.w[:len(n.x)]
	for i, x := range n.x {
		w := weights[i]
		e := exp(-clampLogit(m.a*x + m.b))
		p := 1 / (1 + e)
		sums.Add(w*(p-r[i]), w*(e*p*p), x)
	}
	return sums
}

// step makes a damped Newton step of (a, b).
func (m *model) step(s moments, minSlope float64) {
	ga, gb := s.A+slopeRidge*(m.a-1), s.B+shiftRidge*m.b
	haa, hbb := s.AA+slopeRidge, s.BB+shiftDamping
	det := haa*hbb - s.AB*s.AB
	da, db := (hbb*ga-s.AB*gb)/det, (haa*gb-s.AB*ga)/det
	m.a = within(m.a-within(da, -maxSlopeStep, maxSlopeStep), minSlope, maxSlope)
	m.b = within(m.b-within(db, -maxBShift, maxBShift), -maxShift, maxShift)
}

// clampLogit is within(s, -maxLogit, maxLogit), which the compiler would not inline into the loops.
func clampLogit(s float64) float64 {
	if s > maxLogit {
		return maxLogit
	}
	if s < -maxLogit {
		return -maxLogit
	}
	return s
}

func within(v, lo, hi float64) float64 { return min(max(v, lo), hi) }

// LabelLogOdds returns L_z = log p(z|y=1) - log p(z|y=0), the evidence of a label for y = 1. Rates are kept
// 1e-6 away from 0 and 1.
func LabelLogOdds(z uint8, q01, q10 float64) float64 {
	l := model{q01: q01, q10: q10}.of(z)
	return math.Log(l.true1) - math.Log(l.true0)
}

// Posterior is rho = p(y=1|z,o) = sigmoid(o + L_z), with o the logit of p(y=1).
func Posterior(o float64, z uint8, q01, q10 float64) float64 {
	return Sigmoid(o + LabelLogOdds(z, q01, q10))
}
