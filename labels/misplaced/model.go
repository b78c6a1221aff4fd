package misplaced

import (
	"math"
	"slices"
)

// Bounds of the rates at which own captions mention words.
const (
	leastRate = .02
	mostRate  = .98
	// leastChance keeps frequencies, and rates of words that do not hold, away from 0 and 1.
	leastChance = 1e-7
	mostPrior   = .9
)

// words are the parameters of the model, an element for each class.
type words struct {
	pi   []float64 // frequency in all captions
	a, e []float64 // rates of own captions for words that hold (a) and words that do not (e)
	// Evidence of one caption, in nats, that the word holds: present = log a/e if it mentions the word, and
	// absent = log (1-a)/(1-e) if it does not.
	present, absent []float64
	// logPi = log pi, and unsaid = 1/(1-pi).
	logPi, unsaid []float64
	alpha, beta   []float64 // make logits of p(y=1) of scores: alpha o + beta
}

func newWords(pi []float64) *words {
	w := &words{pi: pi}
	for _, column := range w.columns() {
		*column = make([]float64, len(pi))
	}
	for c, p := range pi {
		w.logPi[c], w.unsaid[c] = math.Log(p), 1/(1-p)
	}
	w.restart()
	return w
}

// columns are all but the frequencies.
func (w *words) columns() []*[]float64 {
	return []*[]float64{&w.a, &w.e, &w.present, &w.absent, &w.logPi, &w.unsaid, &w.alpha, &w.beta}
}

// restart resets the learned values.
func (w *words) restart() {
	for c, p := range w.pi {
		w.a[c], w.e[c], w.alpha[c], w.beta[c] = .4, .3*p, 1, 0
		w.e[c] = min(w.e[c], w.a[c]/2)
	}
	w.update()
}

func (w *words) clone() *words {
	c := *w
	for _, column := range c.columns() {
		*column = slices.Clone(*column)
	}
	return &c
}

// update finds what captions say from the rates.
func (w *words) update() {
	for c := range w.a {
		a, e := w.a[c], w.e[c]
		w.present[c], w.absent[c] = math.Log(a/e), math.Log((1-a)/(1-e))
	}
}

// priors are the logits of p(y=1) of each word for bags without scores. Own captions mention a word as often as all do:
// pi = a p + e (1-p).
func (w *words) priors() []float64 {
	logits := make([]float64, len(w.pi))
	for c, pi := range w.pi {
		p := (pi - w.e[c]) / (w.a[c] - w.e[c])
		p = min(max(p, pi), mostPrior)
		logits[c] = math.Log(p / (1 - p))
	}
	return logits
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// said returns the probability that an own caption mentions a word, given the logit of p(y=1).
func (w *words) said(class int, logit float64) float64 {
	e := w.e[class]
	return e + (w.a[class]-e)*sigmoid(logit)
}

// mention returns the evidence of a mentioned word over one that is not mentioned, if an own caption mentions
// it with probability s: log s/pi - log (1-s)/(1-pi).
func (w *words) mention(class int32, s float64) float64 {
	return math.Log(s/((1-s)*w.unsaid[class])) - w.logPi[class]
}
