package rates

import "math"

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
