package misplaced

import (
	"math"
	"slices"
)

// Bounds of the rates at which own captions mention words.
const (
	leastRate = .02
	mostRate  = .98
	// Rates start as startRate for a word that holds, and startMistakes times its frequency for one that does not. With
	// scores the start is lower: if scores alone judge captions, EM learns little of mistakes, and leaves them where they
	// start.
	startRate, startMistakes, startMistakesScored = .4, .3, .1
	// leastChance keeps frequencies, and rates of words that do not hold, away from 0 and 1.
	leastChance = 1e-7
	mostPrior   = .9
)

// words are the parameters of the model, an element for each class.
type words struct {
	pi   []float64 // frequency in all captions
	a, e []float64 // rates of captions for words that hold (a) and words that do not (e)
	p    []float64 // how often words hold
	// Evidence of one caption, in nats, that the word holds: present = log a/e if it mentions the word, and
	// absent = log (1-a)/(1-e) if it does not.
	present, absent []float64
	// alpha and beta make logits of p(y=1) of scores: alpha o + beta. They start at startAlpha and startBeta.
	alpha, beta, startAlpha, startBeta []float64
	slope                              float64 // of all words, in units of startAlpha
}

func newWords(pi []float64, scored bool) *words {
	mistakes := startMistakes
	if scored {
		mistakes = startMistakesScored
	}
	w := &words{pi: pi, slope: 1}
	for _, column := range []*[]float64{&w.a, &w.e, &w.p, &w.present, &w.absent, &w.startAlpha, &w.startBeta} {
		*column = make([]float64, len(pi))
	}
	for c, p := range pi {
		w.a[c] = startRate
		w.e[c] = min(mistakes*p, w.a[c]/2)
		w.p[c] = min(max((p-w.e[c])/(w.a[c]-w.e[c]), p), mostPrior)
	}
	w.weigh()
	return w
}

// weigh computes the evidence of one caption from the rates.
func (w *words) weigh() {
	for c := range w.a {
		a, e := w.a[c], w.e[c]
		w.present[c], w.absent[c] = math.Log(a/e), math.Log((1-a)/(1-e))
	}
}

// startScores has scores of one standard deviation more raise the logit by scoreStart, around the logit of the
// word, whether the scores predict mentions or the truth. scores are rows of all classes.
func (w *words) startScores(scores []float32) {
	const scoreStart = .7
	k := len(w.pi)
	sum, squares := make([]float64, k), make([]float64, k)
	for i, o := range scores {
		sum[i%k] += float64(o)
		squares[i%k] += float64(o) * float64(o)
	}
	rows := max(float64(len(scores)/k), 1)
	for c := range k {
		mean := sum[c] / rows
		w.startAlpha[c] = scoreStart / math.Sqrt(max(squares[c]/rows-mean*mean, 1e-6))
		w.startBeta[c] = logit(w.p[c]) - w.startAlpha[c]*mean
	}
	w.alpha, w.beta = slices.Clone(w.startAlpha), slices.Clone(w.startBeta)
}

// updateSlope finds how much steeper or flatter than at the start the logits of all words are: small data show
// little of each.
func (w *words) updateSlope(s *sums) {
	first, second := 0., 0.
	for c := range s.regression {
		n := &s.regression[c]
		first += n.A * w.startAlpha[c]
		second += n.AA * w.startAlpha[c] * w.startAlpha[c]
	}
	if second > 0 {
		w.slope = max(w.slope+first/second, 0)
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// said returns the probability that an own caption mentions a word, given the logit of p(y=1).
func (w *words) said(class int, logit float64) float64 {
	e := w.e[class]
	return e + (w.a[class]-e)*sigmoid(logit)
}

// update finds the rates from the sums of all units.
func (w *words) update(s *sums) {
	for c := range w.a {
		a := (s.mentions[c] + .5) / (s.holds[c] + 1)
		e := (s.mistakes[c] + .1) / (s.captions - s.holds[c] + 10)
		w.a[c] = min(max(a, leastRate), mostRate)
		w.e[c] = min(max(e, leastChance), w.a[c]/2)
		w.p[c] = min(max(s.grouped[c]/max(s.groups, 1), leastChance), mostPrior)
	}
	w.updateSlope(s)
	for c := range s.regression { // toward the slope of all words
		const ridgeA, ridgeB = 50, 5
		n := &s.regression[c]
		n.A, n.B = n.A-ridgeA*(w.alpha[c]-w.slope*w.startAlpha[c]), n.B-ridgeB*(w.beta[c]-w.startBeta[c])
		n.AA, n.BB = n.AA+ridgeA, n.BB+ridgeB
		da, db := n.Step()
		w.alpha[c], w.beta[c] = w.alpha[c]+da, w.beta[c]+db
	}
	w.weigh()
}
