package rates

import (
	"context"
	"math"
	"slices"
)

// Belief is a noise model that a class may have, p(z=1|o) = q10 + (1 - q01 - q10) sigmoid(a o + b).
type Belief struct {
	Weight float64 // how probable it is; over all beliefs of a class the sum is 1
	Q01    float64
	Q10    float64
	A, B   float64
}

// Rates that a class may have. They are close enough that a posterior hardly changes between two of them. Without
// verified bags, only the first seen01 rates of missing labels are possible: labels do not show higher ones.
var (
	rates01 = [...]float64{.001, .02, .05, .1, .15, .2, .25, .3, .4, .5, .6, .65, .7, .75, .8, .84, .88, .91, .94}
	rates10 = [...]float64{.0005, .003, .01, .02, .04, .07, .1, .15, .2, .3, .4}
)

const seen01 = 11

// The prior of the rates. Noise of one process is alike across classes: the logarithms of each kind of rate
// are normal around their mean. Means and spreads are unknown, and all classes together show which are
// probable.
const (
	means                 = 12
	leastMean, mostMean   = .01, .6  // for q01; the largest of rates01 if bags are verified
	leastMean0, mostMean0 = .002, .4 // for q10
	// exchanged is the prior probability that labels were exchanged between bags. The means then differ
	// between classes: a label is added as often as the class has some, and goes missing as often as it has
	// none.
	exchanged = .01
)

// Spreads of the logarithm of a rate, and how probable each is.
var (
	spreads  = [...]float64{.2, .5, 1.2}
	ofSpread = [...]float64{.7, .25, .05}
)

// Each rate has this many priors. They are made in two ways: with the same means for all classes, or with the
// means of exchanged labels.
const (
	priors = means * len(spreads)
	ways   = 2
)

const (
	leastWeight = 1e-3 // least weight of a belief that is kept, relative to the largest
	beliefSlope = .02  // least slope: the scores of a class may carry no information
	coarser     = 12   // cells that are one for beliefs
)

// trust is the power to which the likelihood of a class is raised. No score follows the model exactly, and with many
// labels even a small error of the model makes wrong rates look certain. So a class with many labels counts as if it
// had 1,000 of its rarer kind.
//
// The scores of one class may mislead, but the scores of all classes seldom do. So a class is trusted more for what all
// classes have in common (least is ofAll) than for how it differs from them (least is ofOne).
func trust(least, rarer float64) float64 { return 1 / (least + rarer/1000) }

const ofAll, ofOne = 2, 8

// possible are the noise models that a class may have, one for each pair of rates.
type possible struct {
	all, one likelihoods // likelihoods of the labels, to the power of trust
	a, b     [len(rates01)][len(rates10)]float64
	prior01  [ways][priors][len(rates01)]float64
	prior10  [ways][priors][len(rates10)]float64
}

// likelihoods has one value for each pair of rates. The best pair has 1.
type likelihoods [len(rates01)][len(rates10)]float64

// normal returns the probability of each rate under prior h, which stands for one mean and one spread on a scale. shift
// is added to the mean.
func normal(rates []float64, scale func(float64) float64, least, most float64, h int, shift float64) []float64 {
	mean := scale(least) + (scale(most)-scale(least))*float64(h/len(spreads))/(means-1) + shift
	spread := spreads[h%len(spreads)]
	out, nearest := make([]float64, len(rates)), math.Inf(1)
	for i, q := range rates {
		out[i] = (scale(q) - mean) / spread
		nearest = min(nearest, math.Abs(out[i]))
	}
	sum := 0.0
	for i, d := range out {
		out[i] = math.Exp((nearest*nearest - d*d) / 2)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// This method sets the Beliefs of each class with labels of both kinds. With h the priors, a mean and a spread of
// either rate,
//
//	weight(q01, q10)  =  sum over h of  p(h)  l(q01, q10) p(q01, q10|h) / sum over q01, q10 of the same
//	p(h)              ∝  product over classes of  sum over q01, q10 of  L(q01, q10) p(q01, q10|h)
//
// L and l are the likelihood of the labels of a class, with the best slope and shift, to the power of trust ofAll
// and ofOne, times the likelihood of the true labels of verified bags, which are certain. Integrating over slope and
// shift would favour rates at which they do not matter, where all labels of a class are wrong.
func (r *Result) believe(ctx context.Context, e *estimator, summaries []summary) error {
	all := make([]*possible, len(r.Classes))
	present, absent := r.logShares()
	marginals := make([][]float64, len(r.Classes))
	err := e.eachClass(ctx, func(c int, _ []float64) {
		if !math.IsNaN(present[c]) {
			all[c] = e.possible(c, summaries[c], [ways]float64{0, absent[c]}, [ways]float64{0, present[c]})
			marginals[c] = all[c].marginals()
		}
	})
	if err != nil {
		return err
	}
	of := make([]float64, ways*priors*priors)
	for _, marginal := range marginals {
		for i, v := range marginal {
			of[i] += v
		}
	}
	posterior(of)
	return e.eachClass(ctx, func(c int, _ []float64) {
		if all[c] != nil {
			r.Classes[c].Beliefs = all[c].beliefs(of)
		}
	})
}

// logShares returns, for each class, the logarithm of the share of bags with its label and of the share without it,
// each less its mean over classes. They are NaN for a class whose labels are all equal.
func (r *Result) logShares() (present, absent []float64) {
	present, absent = make([]float64, len(r.Classes)), make([]float64, len(r.Classes))
	var sums [2]float64
	n := 0.0
	for c, class := range r.Classes {
		known := r.Bags - class.Unknown
		if class.Positives == 0 || class.Positives == known {
			present[c], absent[c] = math.NaN(), math.NaN()
			continue
		}
		share := float64(class.Positives) / float64(known)
		present[c], absent[c] = math.Log(share), math.Log1p(-share)
		sums[0], sums[1], n = sums[0]+present[c], sums[1]+absent[c], n+1
	}
	for c := range present {
		present[c], absent[c] = present[c]-sums[0]/n, absent[c]-sums[1]/n
	}
	return present, absent
}

// possible fits slope and shift to each pair of rates. For each way, shifts01 and shifts10 move the means of the
// priors.
func (e *estimator) possible(c int, s summary, shifts01, shifts10 [ways]float64) *possible {
	p, missing, scale, most := &possible{}, rates01[:seen01], math.Log, mostMean
	if len(e.options.Verified) > 0 { // most labels may be missing
		missing, scale, most = rates01[:], logit, rates01[len(rates01)-1]
	}
	for way := range ways {
		for h := range priors {
			copy(p.prior01[way][h][:], normal(missing, scale, leastMean, most, h, shifts01[way]))
			copy(p.prior10[way][h][:], normal(rates10[:], math.Log, leastMean0, mostMean0, h, shifts10[way]))
		}
	}
	z, own := s.believed(), &e.classes[c]
	z.verified = e.verified(c)
	row := e.models[c].parameters()
	var all, one likelihoods // logarithms
	for i, q01 := range missing {
		at := row
		for j, q10 := range rates10 {
			at[rate01], at[rate10] = logit(q01), logit(q10)
			var value float64
			at, value = z.climb(at, held{rate01: true, rate10: true})
			p.a[i][j], p.b[i][j] = at[slope], at[shift]
			checked := 0.0
			if k := z.verified; k != nil {
				checked = k.likelihood(Belief{Q01: q01, Q10: q10, A: at[slope], B: at[shift]}, nil)
				value -= k.weight * checked
			}
			all[i][j] = trust(ofAll, own.rarer())*value + checked
			one[i][j] = trust(ofOne, own.rarer())*value + checked
			if j == 0 {
				row = at
			}
		}
	}
	p.all, p.one = all.relative(len(missing)), one.relative(len(missing))
	return p
}

// relative turns the logarithms in the first n rows into likelihoods. The largest is 1.
func (l *likelihoods) relative(n int) (out likelihoods) {
	best := math.Inf(-1)
	for i := range n {
		best = max(best, slices.Max(l[i][:]))
	}
	for i := range n {
		for j, value := range l[i] {
			out[i][j] = math.Exp(value - best)
		}
	}
	return out
}

// believed is the evidence for beliefs, in fewer cells.
func (s summary) believed() evidence {
	out := evidence{cells: make([]cell, 0, len(s.cells)/coarser+1), minSlope: beliefSlope, enough: .01}
	for len(s.cells) > 0 {
		var sum cell
		rows := 0.0
		for _, c := range s.cells[:min(coarser, len(s.cells))] {
			n := c.present + c.absent
			sum.score += n * c.score
			sum.present, sum.absent, rows = sum.present+c.present, sum.absent+c.absent, rows+n
		}
		sum.score /= rows
		out.cells, s.cells = append(out.cells, sum), s.cells[min(coarser, len(s.cells)):]
	}
	return out
}

// marginals are the logarithms of the likelihood under each prior of q01 with each of q10, for either way.
func (p *possible) marginals() []float64 {
	out := make([]float64, 0, ways*priors*priors)
	for way := range ways {
		for h := range priors {
			row := p.all.under(&p.prior01[way][h])
			for k := range priors {
				out = append(out, math.Log(dot(&row, &p.prior10[way][k])))
			}
		}
	}
	return out
}

// under is the likelihood of each rates10 under a prior of q01.
func (l *likelihoods) under(prior *[len(rates01)]float64) (row [len(rates10)]float64) {
	for i, w := range prior {
		for j, f := range l[i] {
			row[j] += w * f
		}
	}
	return row
}

func dot(a, b *[len(rates10)]float64) (sum float64) {
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

// posterior turns the logarithms of the likelihood of all classes under each pair of priors into probabilities of
// these.
func posterior(of []float64) {
	best := math.Inf(-1)
	for i := range of {
		prior := 1 - exchanged
		if i >= priors*priors {
			prior = exchanged
		}
		prior *= ofSpread[i/priors%len(spreads)] * ofSpread[i%len(spreads)]
		of[i] += math.Log(prior)
		best = max(best, of[i])
	}
	sum := 0.0
	for i, v := range of {
		of[i] = math.Exp(v - best)
		sum += of[i]
	}
	for i := range of {
		of[i] /= sum
	}
}

// beliefs weighs the models by the probabilities of the priors.
func (p *possible) beliefs(of []float64) []Belief {
	var prior likelihoods
	for way := range ways {
		for h := range priors {
			// sum over the priors of q10 of  p(h)/p(z|h) p(q10|h)
			row, mean := p.one.under(&p.prior01[way][h]), [len(rates10)]float64{}
			for k := range priors {
				weight := of[(way*priors+h)*priors+k]
				if weight == 0 { // the sum below may be 0, too
					continue
				}
				weight /= dot(&row, &p.prior10[way][k])
				for j, q := range p.prior10[way][k] {
					mean[j] += weight * q
				}
			}
			for i, w := range p.prior01[way][h] {
				for j, m := range mean {
					prior[i][j] += w * m
				}
			}
		}
	}
	var out []Belief
	largest, sum := 0.0, 0.0
	for i := range prior {
		for j := range prior[i] {
			prior[i][j] *= p.one[i][j]
			largest = max(largest, prior[i][j])
		}
	}
	for i, row := range prior {
		for j, w := range row {
			if w >= leastWeight*largest {
				out = append(out, Belief{Weight: w, Q01: rates01[i], Q10: rates10[j], A: p.a[i][j], B: p.b[i][j]})
				sum += w
			}
		}
	}
	for i := range out {
		out[i].Weight /= sum
	}
	return out
}

// Believed returns the class with the mean rates of its beliefs, and with intervals that hold the share confidence of
// their weight. A class without beliefs is returned unchanged.
func (c Class) Believed(confidence float64) Class {
	if c.Beliefs == nil {
		return c
	}
	var of01 [len(rates01)]float64
	var of10 [len(rates10)]float64
	c.Q01, c.Q10 = 0, 0
	for _, b := range c.Beliefs {
		c.Q01, c.Q10 = c.Q01+b.Weight*b.Q01, c.Q10+b.Weight*b.Q10
		of01[placeOf(rates01[:], b.Q01)] += b.Weight
		of10[placeOf(rates10[:], b.Q10)] += b.Weight
	}
	n := len(rates01)
	if slices.Max(of01[seen01:]) == 0 {
		n = seen01
	}
	c.Q01Interval = holding(confidence, rates01[:n], of01[:n])
	c.Q10Interval = holding(confidence, rates10[:], of10[:])
	return c
}

// placeOf returns the index of the largest rate up to q: a floor may have raised it.
func placeOf(rates []float64, q float64) int {
	at, found := slices.BinarySearch(rates, q)
	if !found {
		at--
	}
	return at
}

// holding returns the central interval of a distribution that holds the given share of it. The weight of each rate is
// spread evenly over its neighbourhood, which ends half way to the next rates. The lowest one begins at 0.
func holding(share float64, rates, weights []float64) Interval {
	quantile := func(at float64) (q float64) {
		from := 0.0
		for i, rate := range rates {
			to := rate
			if i+1 < len(rates) {
				to = (rate + rates[i+1]) / 2
			}
			if weights[i] > 0 {
				if q = from + (to-from)*min(at/weights[i], 1); at <= weights[i] {
					break
				}
				at -= weights[i]
			}
			from = to
		}
		return q
	}
	return Interval{quantile((1 - share) / 2), quantile((1 + share) / 2)}
}
