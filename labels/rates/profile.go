package rates

import (
	"cmp"
	"math"
)

// evidence is the log likelihood of one class's rates and calibration, with the ridge of the latter:
//
//	sum over cells of  present log p(z=1|o) + absent log(1 - p(z=1|o))  - .05 (a-1)^2 - .0005 b^2
//
// The other classes do not affect it, unlike the estimate.
type evidence struct {
	cells      []cell
	minSlope   float64
	confidence float64
	enough     float64 // a climb ends after a step of less; 0 for 1e-5
	verified   *verifiedColumn
}

// The parameters of a step: the logits of the two rates, slope and shift.
const (
	rate01 = iota
	rate10
	slope
	shift
	parameters
)

type (
	vector [parameters]float64
	square [parameters * parameters]float64 // row by row
)

func (m model) parameters() vector { return vector{logit(m.q01), logit(m.q10), m.a, m.b} }

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// Sigmoid is 1/(1+exp(-x)), without overflow.
func Sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + exp(-min(x, maxLogit)))
	}
	e := exp(max(x, -maxLogit))
	return e / (1 + e)
}

// Softplus is log(1+exp(x)) = -log(1-Sigmoid(x)), without overflow.
func Softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// limits of the parameters. Rates may come closer to 0 than the estimates do, so that an interval can
// show that nothing speaks against 0.
func (e *evidence) limits() (lo, hi vector) {
	return vector{logit(zeroRate), logit(zeroRate), e.minSlope, -maxShift},
		vector{logit(maxQ01), logit(maxQ10), maxSlope, maxShift}
}

// zeroRate counts as 0 in an interval.
const zeroRate = 1e-5

// value is the target at v.
func (e *evidence) value(v vector) float64 {
	q01, q10 := Sigmoid(v[rate01]), Sigmoid(v[rate10])
	sum := -slopeRidge/2*(v[slope]-1)*(v[slope]-1) - shiftRidge/2*v[shift]*v[shift]
	for _, c := range e.cells {
		p := Sigmoid(v[slope]*c.score + v[shift])
		z := q10 + (1-q01-q10)*p
		sum += c.present*math.Log(z) + c.absent*math.Log1p(-z)
	}
	if e.verified != nil {
		sum += e.verified.weight * e.verified.likelihood(Belief{Q01: q01, Q10: q10, A: v[slope], B: v[shift]}, nil)
	}
	return sum
}

// gradient also returns the expected information, which stands for the negative Hessian.
func (e *evidence) gradient(v vector) (g vector, information square) {
	q01, q10 := Sigmoid(v[rate01]), Sigmoid(v[rate10])
	for _, c := range e.cells {
		p := Sigmoid(v[slope]*c.score + v[shift])
		z := q10 + (1-q01-q10)*p
		move := (1 - q01 - q10) * p * (1 - p)
		d := vector{-p * q01 * (1 - q01), (1 - p) * q10 * (1 - q10), move * c.score, move}
		pull, weight := c.present/z-c.absent/(1-z), (c.present+c.absent)/(z*(1-z))
		for i := range d {
			g[i] += pull * d[i]
			for j := range i + 1 {
				information[i*parameters+j] += weight * d[i] * d[j]
			}
		}
	}
	if k := e.verified; k != nil { // the rates are held
		k.likelihood(Belief{Q01: q01, Q10: q10, A: v[slope], B: v[shift]}, func(score, off, variance float64) {
			for i, d := range [2]float64{score, 1} {
				g[slope+i] += k.weight * off * d
				information[(slope+i)*parameters+slope] += k.weight * variance * d * score
			}
			information[shift*parameters+shift] += k.weight * variance
		})
	}
	g[slope] -= slopeRidge * (v[slope] - 1)
	g[shift] -= shiftRidge * v[shift]
	information[slope*parameters+slope] += slopeRidge
	information[shift*parameters+shift] += shiftRidge
	return g, information
}

// held are the parameters that a climb leaves alone.
type held [parameters]bool

// climb raises the target from v by damped scoring, and returns its end point and value.
func (e *evidence) climb(v vector, fixed held) (vector, float64) {
	const rounds = 60
	enough := cmp.Or(e.enough, 1e-5)
	lo, hi := e.limits()
	best, damping := e.value(v), 1e-3
	for range rounds {
		g, information := e.gradient(v)
		for i := range g {
			atLimit := v[i] <= lo[i] && g[i] < 0 || v[i] >= hi[i] && g[i] > 0
			if fixed[i] || atLimit {
				hold(&g, &information, i)
			}
		}
		gain := 0.0
		for damping < 1e12 {
			next := v
			damped, steps := information, g
			for i := range g {
				damped[i*parameters+i] += damping*damped[i*parameters+i] + 1e-12
			}
			for i, step := range Solve(damped[:], steps[:]) {
				next[i] = within(v[i]+within(step, -1, 1), lo[i], hi[i])
			}
			if f := e.value(next); f > best {
				gain, v, best = f-best, next, f
				damping /= 10
				break
			}
			damping *= 10
		}
		if gain < enough {
			break
		}
	}
	return v, best
}

// hold takes a parameter out of a step.
func hold(g *vector, information *square, i int) {
	g[i] = 0
	for j := range g {
		information[i*parameters+j], information[j*parameters+i] = 0, 0
	}
	information[i*parameters+i] = 1
}

// interval bounds a rate by its profile likelihood. It holds the values at which the target, maximised over
// everything else, stays within half of the quantile of chi-squared below its maximum. Unlike an interval
// from the curvature it is right close to 0, the value for clean labels, and it widens if rate and
// calibration can replace each other. It depends on the class's own labels: the estimate m is drawn towards
// the other classes, and the interval is widened to hold it.
func (e *evidence) interval(m model, which int) Interval {
	top, best := e.climb(m.parameters(), held{})
	z := math.Sqrt2 * math.Erfinv(e.confidence)
	floor := best - z*z/2
	lo, hi := e.limits()
	out := Interval{Sigmoid(e.bound(top, which, lo[which], floor)), Sigmoid(e.bound(top, which, hi[which], floor))}
	if out.Low <= zeroRate {
		out.Low = 0
	}
	q := m.q01
	if which == rate10 {
		q = m.q10
	}
	return Interval{min(out.Low, q), max(out.High, q)}
}

// bound finds where the profile falls to the floor between the maximum and the limit, or returns the
// limit when it does not.
func (e *evidence) bound(top vector, which int, limit, floor float64) float64 {
	inside, outside := top, top
	var fixed held
	fixed[which] = true
	for step := .25; ; step *= 2 {
		at := within(outside[which]+math.Copysign(step, limit-top[which]), min(limit, top[which]),
			max(limit, top[which]))
		outside[which] = at
		profile, f := e.climb(outside, fixed)
		if f < floor {
			outside = profile
			break
		}
		if at == limit {
			return limit
		}
		inside, outside = profile, profile
	}
	const close = .01 // in logits of the rate: a hundredth of its size
	for math.Abs(outside[which]-inside[which]) > close {
		middle := inside
		middle[which] = (inside[which] + outside[which]) / 2
		if profile, f := e.climb(middle, fixed); f >= floor {
			inside = profile
		} else {
			outside = profile
		}
	}
	return (inside[which] + outside[which]) / 2
}
