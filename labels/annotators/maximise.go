package annotators

import "math"

// half a label of either kind is the prior of the rates of all annotators and of the frequencies of classes, and keeps
// them from 0 and 1.
const half = .5

// maximise sets the parameters to the maximum of the expected objective.
func (e *estimator) maximise() {
	if e.pooled {
		e.maximisePooled()
	} else {
		for j := range e.pairs {
			if e.free[j] {
				e.pairs[j] = e.total.expected(j, e.asked[j]).pair(e.center, e.weight)
			}
		}
	}
	if e.a != nil {
		e.calibrate()
		return
	}
	for k, expected := range e.total.class {
		p := (max(expected, 0) + half) / (float64(e.in.Bags) + 2*half)
		e.prior[k] = math.Log(p) - math.Log1p(-p)
	}
}

// confusion is an annotator's expected confusion table.
type confusion struct {
	missed, found    float64 // true labels, that it did not give and that it gave
	absent, invented float64 // labels that do not hold
}

func (s *sums) expected(annotator int, c counts) confusion {
	t := confusion{missed: max(s.true0[annotator], 0), found: max(s.true1[annotator], 0)}
	t.invented = max(c.given-t.found, 0)
	t.absent = max(c.asked-c.given-t.missed, 0)
	return t
}

// pair is the mode of the posterior under a beta prior that is worth weight labels around center.
func (t confusion) pair(center, weight pair) pair {
	rate := func(wrong, right, center, weight float64) float64 {
		return min(max((wrong+weight*center)/(wrong+right+weight), leastRate), mostRate)
	}
	return pair{rate(t.missed, t.found, center.q01, weight.q01), rate(t.invented, t.absent, center.q10, weight.q10)}
}

// everyone are the expected confusion tables of all annotators in one.
func (e *estimator) everyone() confusion {
	var sum confusion
	for j := range e.pairs {
		t := e.total.expected(j, e.asked[j])
		sum.missed += t.missed
		sum.found += t.found
		sum.absent += t.absent
		sum.invented += t.invented
	}
	return sum
}

func (e *estimator) maximisePooled() {
	q := e.everyone().pair(pair{half, half}, pair{2 * half, 2 * half})
	for j := range e.pairs {
		e.pairs[j] = q
	}
}

// penalty is the log density of the priors, less constants.
func (e *estimator) penalty() float64 {
	logs := func(q, center, weight float64) float64 {
		return weight * (center*math.Log(q) + (1-center)*math.Log1p(-q))
	}
	sum := 0.0
	if e.pooled {
		sum += logs(e.pairs[0].q01, half, 2*half) + logs(e.pairs[0].q10, half, 2*half)
	} else {
		for _, q := range e.pairs {
			sum += logs(q.q01, e.center.q01, e.weight.q01) + logs(q.q10, e.center.q10, e.weight.q10)
		}
	}
	for _, o := range e.prior {
		_, soft := sigmoidSoftplus(o)
		sum += half*(o-soft) - half*soft
	}
	for k := range e.a {
		sum -= slopeRidge/2*(e.a[k]-1)*(e.a[k]-1) + offsetRidge/2*e.b[k]*e.b[k]
	}
	return sum
}

// Bounds of the estimated strength of the prior, in labels. Its logarithm has a wide normal prior, so that a
// few annotators who are alike by chance do not drive it to its upper bound.
const (
	leastStrength, mostStrength = 1., 1e4
	typicalStrength             = 20.
	strengthSpread              = 2. // standard deviation of the logarithm
)

// shrink estimates the prior of pairs from the answers of the annotators: a beta distribution fitted to their rates by
// the likelihood of beta-binomial counts (empirical Bayes).
func (e *estimator) shrink() {
	missed, invented := e.evident()
	e.center.q01, e.weight.q01 = betaPrior(missed, e.options.Strength01)
	e.center.q10, e.weight.q10 = betaPrior(invented, e.options.Strength10)
	for j := range e.pairs {
		if !e.free[j] {
			e.pairs[j] = e.center
		}
	}
}

// trials are answers of an annotator to labels of one kind, and how many of them are wrong.
type trials struct{ wrong, all float64 }

// evident returns the answers of each annotator to true labels, and to labels that do not hold. After the
// phase with one pooled pair they are the expected counts. Later, expected counts would understate how much
// annotators differ, because they were computed with pairs drawn together. Then each annotator gets the
// number of answers that would carry the same information on its rate if the truth were known, and the share
// of wrong ones that led to its rate, without the prior.
func (e *estimator) evident() (missed, invented []trials) {
	if e.pooled {
		for j := range e.pairs {
			if t := e.total.expected(j, e.asked[j]); e.free[j] {
				missed = append(missed, trials{t.missed, t.missed + t.found})
				invented = append(invented, trials{t.invented, t.invented + t.absent})
			}
		}
		return missed, invented
	}
	told := func(q, center, weight, variance float64) trials {
		n := max(1/(variance*q*(1-q))-weight, 0)
		return trials{min(max(n*q+weight*(q-center), 0), n), n}
	}
	h := newShared(e)
	for j, q := range e.pairs {
		if !e.free[j] {
			continue
		}
		if v, ok := q.information(e.total.expected(j, e.asked[j]), h.uncertain[j], e.weight).covariance(); ok {
			missed = append(missed, told(q.q01, e.center.q01, e.weight.q01, v.i01))
			invented = append(invented, told(q.q10, e.center.q10, e.weight.q10, v.i10))
		}
	}
	return missed, invented
}

// betaPrior fits mean and strength (the sum of both parameters) of a beta distribution to counts. A fixed strength
// above 0 is kept.
func betaPrior(counts []trials, fixed float64) (mean, strength float64) {
	strength = fixed
	if fixed == 0 {
		strength = typicalStrength
	}
	for range 8 {
		// An annotator's rate varies by p(1-p)(1/n + 1/strength), about: the mean is weighted by the inverse.
		w, n := half, 2*half
		for _, c := range counts {
			share := strength / (c.all + strength)
			w += c.wrong * share
			n += c.all * share
		}
		mean = min(max(w/n, leastRate), mostRate)
		if fixed == 0 {
			strength = bestStrength(counts, mean)
		}
	}
	return mean, strength
}

// bestStrength maximises the likelihood of the counts over the strength.
func bestStrength(counts []trials, mean float64) float64 {
	return mostLikely(30, func(s float64) float64 {
		sum, base := 0., logBeta(s*mean, s*(1-mean))
		for _, c := range counts {
			sum += logBeta(c.wrong+s*mean, c.all-c.wrong+s*(1-mean)) - base
		}
		return sum
	})
}

// mostLikely is the strength with the largest log likelihood and log prior, by steps of a golden section on its
// logarithm.
func mostLikely(steps int, likelihood func(strength float64) float64) float64 {
	value := func(log float64) float64 {
		d := (log - math.Log(typicalStrength)) / strengthSpread
		return likelihood(math.Exp(log)) - d*d/2
	}
	ratio := (math.Sqrt(5) - 1) / 2
	lo, hi := math.Log(leastStrength), math.Log(mostStrength)
	x1, x2 := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	f1, f2 := value(x1), value(x2)
	for range steps {
		if f1 < f2 {
			lo, x1, f1 = x1, x2, f2
			x2 = lo + ratio*(hi-lo)
			f2 = value(x2)
		} else {
			hi, x2, f2 = x2, x1, f1
			x1 = hi - ratio*(hi-lo)
			f1 = value(x1)
		}
	}
	return math.Exp((lo + hi) / 2)
}

func logBeta(a, b float64) float64 {
	return logGamma(a) + logGamma(b) - logGamma(a+b)
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
