package misplaced

import "math"

// prior is how probable arrangements are before captions are compared.
type prior struct {
	// foreign is, for each number of captions of a unit, the probability of each number of foreign ones.
	foreign [][]float64
	// together is the concentration theta of groups: foreign caption number i+1 comes alone with probability
	// theta/(theta+i), and otherwise joins a group with probability in proportion to its size (Ewens).
	together float64
	// similar is the share of foreign captions that come from similar pictures, of those that came alone.
	similar float64
	// similarOff and groupsOff are set while foreign captions come neither from similar pictures nor in groups.
	similarOff, groupsOff bool

	smooth *betaBinomial
}

const (
	startTogether = 20.
	startSimilar  = .3
	neverTogether = 1e9
	// smoothed is how many units the smooth distribution counts as.
	smoothed = 10
	// hurry is the exponent by which shares change further than a step of EM would change them.
	hurry = 1.5
	// leastShare keeps shares away from 0, where EM would leave them.
	leastShare = 1e-9
)

func newPrior(most int) *prior {
	p := &prior{together: startTogether, similarOff: true,
		foreign: make([][]float64, most+1), smooth: newBetaBinomial(most)}
	for n := range p.foreign {
		of, sum := make([]float64, n+1), 0.0
		for k := range of {
			of[k] = math.Pow(.5, float64(k))
			sum += of[k]
		}
		for k := range of {
			of[k] /= sum
		}
		p.foreign[n] = of
	}
	return p
}

// division is the log of the probability that k captions of n are foreign, and that these are the ones.
func (p *prior) division(n, k int) float64 {
	return math.Log(p.foreign[n][k]+1e-300) - p.smooth.chosen(n, k)
}

// log is the log of an arrangement's probability.
func (p *prior) log(n int, a *arrangement) float64 {
	k := a.foreign(n)
	sum := p.division(n, k) + float64(len(a.groups)+len(a.singles))*math.Log(p.together)
	for _, g := range a.groups {
		for i := 2; i < onesOf(g); i++ {
			sum += math.Log(float64(i))
		}
	}
	for i := range k {
		sum -= math.Log(p.together + float64(i))
	}
	return sum
}

// update finds the prior from what was expected of all units.
func (p *prior) update(s *sums) {
	p.fitSmooth(s)
	for n, of := range p.foreign {
		if n == 0 {
			continue
		}
		units := 0.0
		for k := range of {
			units += s.foreign[n][k] + s.unscored[n][k]
		}
		if units == 0 {
			continue
		}
		smooth, next, sum := make([]float64, n+1), make([]float64, n+1), 0.0
		for k := range smooth {
			smooth[k] = math.Exp(p.smooth.log(n, k))
		}
		// Without scores captions cannot distinguish one own caption from none, so the smooth distribution decides.
		none := smooth[n] / max(smooth[n]+smooth[n-1], leastShare)
		merged := s.unscored[n][n-1] + s.unscored[n][n]
		for k := range next {
			count := s.foreign[n][k] + s.unscored[n][k]
			switch k {
			case n - 1:
				count = s.foreign[n][k] + merged*(1-none)
			case n:
				count = s.foreign[n][k] + merged*none
			}
			share := (count + smoothed*smooth[k]) / (units + smoothed)
			next[k] = max(of[k]*math.Pow(share/max(of[k], leastShare), hurry), leastShare)
			sum += next[k]
		}
		for k := range next {
			of[k] = next[k] / sum
		}
	}
	if s.alone > 0 && !p.similarOff {
		share := (s.similar + .5) / (s.alone + 1)
		p.similar = min(max(p.similar*math.Pow(share/max(p.similar, leastShare), hurry), 1e-4), .999)
	}
	p.fitTogether(s)
	if p.similarOff {
		p.similar = 0
	}
	if p.groupsOff {
		p.together = neverTogether
	}
}

// fitSmooth finds the beta-binomial distribution of the numbers of foreign captions.
func (p *prior) fitSmooth(s *sums) {
	p.smooth.fit(func() float64 {
		sum := 0.0
		for n := 1; n < len(p.foreign); n++ {
			for k := range n + 1 {
				if count := s.foreign[n][k]; count > 0 {
					sum += count * p.smooth.log(n, k)
				}
				if count := s.unscored[n][k]; count > 0 && k < n-1 {
					sum += count * p.smooth.log(n, k)
				}
			}
			if merged := s.unscored[n][n-1] + s.unscored[n][n]; merged > 0 {
				sum += merged * math.Log(math.Exp(p.smooth.log(n, n-1))+math.Exp(p.smooth.log(n, n))+1e-300)
			}
		}
		return sum
	})
}

func (p *prior) fitTogether(s *sums) {
	const least, most, steps = -3, 8, 56
	best := math.Inf(-1)
	for i := range steps {
		theta := math.Exp(least + (most-least)*float64(i)/(steps-1))
		l, part := s.groupsForeign*math.Log(theta), 0.0
		for k, count := range s.anyForeign {
			if k > 0 {
				part += math.Log(theta + float64(k-1))
			}
			l -= count * part
		}
		if l > best {
			best, p.together = l, theta
		}
	}
}

// betaBinomial computes likelihoods of counts.
type betaBinomial struct {
	alpha, beta, both, choose []float64 // sums of logarithms: alpha+i for i < n, and so on; log n!
}

func newBetaBinomial(most int) *betaBinomial {
	b := &betaBinomial{alpha: make([]float64, most+1), beta: make([]float64, most+1), both: make([]float64, most+1),
		choose: make([]float64, most+1)}
	for n := 1; n <= most; n++ {
		b.choose[n] = b.choose[n-1] + math.Log(float64(n))
	}
	return b
}

// set takes the mean and the correlation of captions of one bag, both between 0 and 1.
func (b *betaBinomial) set(mean, spread float64) {
	size := (1 - spread) / spread
	for n := 1; n < len(b.alpha); n++ {
		i := float64(n - 1)
		b.alpha[n] = b.alpha[n-1] + math.Log(mean*size+i)
		b.beta[n] = b.beta[n-1] + math.Log((1-mean)*size+i)
		b.both[n] = b.both[n-1] + math.Log(size+i)
	}
}

// log returns the log of the probability of k of n.
func (b *betaBinomial) log(n, k int) float64 {
	return b.chosen(n, k) + b.alpha[k] + b.beta[n-k] - b.both[n]
}

// chosen returns the log of the number of ways to choose k of n.
func (b *betaBinomial) chosen(n, k int) float64 { return b.choose[n] - b.choose[k] - b.choose[n-k] }

// fit finds the mean and the spread of the greatest likelihood, by a search that halves its steps, in logits.
func (b *betaBinomial) fit(likelihood func() float64) {
	const least, most = -5, 4 // logits of both
	at, best := [2]float64{-1, -1.5}, math.Inf(-1)
	for step := 2.0; step > .01; {
		from := at
		for x := -1.0; x <= 1; x++ {
			for y := -1.0; y <= 1; y++ {
				try := [2]float64{min(max(from[0]+x*step, least), most), min(max(from[1]+y*step, least), most)}
				b.set(sigmoid(try[0]), sigmoid(try[1]))
				if l := likelihood(); l > best {
					best, at = l, try
				}
			}
		}
		if at == from {
			step /= 2
		}
	}
	b.set(sigmoid(at[0]), sigmoid(at[1]))
}
