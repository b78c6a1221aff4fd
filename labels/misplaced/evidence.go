package misplaced

import (
	"context"
	"math"

	"nmn/internal/parallel"
)

// neverMentioned is the share of the words that hold in a bag and that no caption would mention, however many there
// are. Captions do not show it: such a word looks like one that does not hold. It was chosen on the built-in scenes,
// with their truth.
const neverMentioned = .3

// Evidence returns the log likelihood ratio of the captions of each bag between a word that holds and one that does
// not, bags × classes in nats:
//
//	E = log [u + (1-u) Π_c p(c|y=1)/p(c|y=0)],  p(c|y) = v p(mentioned or not|y) + (1-v) p(mentioned or not)
//
// v is the probability that caption c belongs to the bag by all its words but this one, because scores of a word must
// not confirm themselves. u is neverMentioned.
func (r *Result) Evidence(ctx context.Context) ([]float32, error) {
	f, k := r.finder, r.finder.in.Classes
	out := make([]float32, len(f.in.Captions)*k)
	err := parallel.Run(ctx, len(f.in.Captions), 0, func() func(int) {
		sums, logits := make([]float64, k), make([]float64, k)
		return func(n int) {
			f.evidence(n, sums, logits)
			for c, sum := range sums {
				out[n*k+c] = float32(math.Log(neverMentioned + (1-neverMentioned)*math.Exp(min(sum, mostExponent))))
			}
		}
	})
	return out, err
}

// evidence sets sums to the logs of the products over the captions of a bag. logits is room.
func (f *finder) evidence(bag int, sums, logits []float64) {
	w, captions, scores := f.words, f.in.Captions[bag], f.scoresOf(bag)
	votes := f.votes[f.first[bag]:f.first[bag+1]]
	for class := range sums {
		sums[class], logits[class] = 0, logit(w.p[class])
		if scores != nil {
			logits[class] = w.alpha[class]*float64(scores[class]) + w.beta[class]
		}
		for _, v := range votes {
			sums[class] += w.saidOf(class, v, false)
			logits[class] += v * w.absent[class]
		}
	}
	for c, v := range votes {
		for _, class := range captions[c] {
			logits[class] += v * (w.present[class] - w.absent[class])
		}
	}
	for c, v := range votes {
		for _, class := range captions[c] {
			said := w.said(int(class), logits[class]-v*w.present[class]) // by the other captions, and the scores
			without := v * math.Pow(w.pi[class]/said, temper)
			without /= without + 1 - v
			sums[class] += w.saidOf(int(class), without, true) - w.saidOf(int(class), v, false)
		}
	}
}

// saidOf returns the log likelihood ratio of a caption that mentions a word or not, between a word that holds and one
// that does not. own is the probability that the caption belongs to the bag.
func (w *words) saidOf(class int, own float64, mentioned bool) float64 {
	a, e, pi := w.a[class], w.e[class], w.pi[class]
	if !mentioned {
		a, e, pi = 1-a, 1-e, 1-pi
	}
	return math.Log((own*a + (1-own)*pi) / (own*e + (1-own)*pi))
}
