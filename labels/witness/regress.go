package witness

import (
	"context"
	"math"
)

// classifier is what scores say of captions without the others of their bag: an own caption mentions a word with
// probability s = sigmoid(alpha o + beta), a foreign one with pi. Where most captions are foreign, those that are the
// bag's own have nobody to agree with, and this is all that there is.
type classifier struct{ alpha, beta []float64 }

const (
	classifierRounds = 6
	classifierShare  = .5 // of foreign captions, at its start
)

// byClassifier judges the captions of bags with scores by these alone, from the share of foreign captions that it
// starts with: rates of own captions are what is left of the score, which foretells mentions by captions of both kinds,
// 1-(1-p)^(1/C) for each of C captions, once the foreign ones are taken away. Votes then teach how mentions follow scores.
func (f *finder) byClassifier(ctx context.Context) error {
	k := f.in.Classes
	f.scoresAlone, f.eps = true, classifierShare
	clear(f.own) // captions of bags without scores are as likely as foreign ones
	clear(f.null)
	for range 3 {
		eps := min(f.eps, .95)
		if err := f.judgeByScores(ctx, func(c int, o float32, captions float64) float64 {
			pi := f.words.pi[c]
			mentioned := -math.Expm1(-softplus(float64(o)) / captions)
			return min(max((mentioned-eps*pi)/(1-eps), .05*pi), mostRate)
		}); err != nil {
			return err
		}
		f.vote()
	}
	m := &classifier{alpha: make([]float64, k), beta: make([]float64, k)}
	for c, pi := range f.words.pi {
		m.alpha[c], m.beta[c] = .5, math.Log(pi/(1-pi))
	}
	f.byScore = m
	for range classifierRounds {
		for range 2 {
			if err := f.learnClassifier(ctx, m); err != nil {
				return err
			}
		}
		if err := f.judgeByScores(ctx, m.rate); err != nil {
			return err
		}
		f.vote()
	}
	return nil
}

// rate is the probability that an own caption mentions a word of that score.
func (m *classifier) rate(c int, o float32, _ float64) float64 {
	return min(max(sigmoid(m.alpha[c]*float64(o)+m.beta[c]), leastChance), mostRate)
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// judgeByScores finds t of the captions of bags with scores, and of others in their places.
func (f *finder) judgeByScores(ctx context.Context, rate func(c int, o float32, captions float64) float64) error {
	return f.eachBlock(ctx, func(int) func(bag int) {
		s := make([]float64, f.in.Classes)
		return func(n int) {
			scores, captions := f.scoresOf(n), f.in.Captions[n]
			if scores == nil || len(captions) == 0 {
				return
			}
			silent := logSum{product: 1}
			for c, o := range scores {
				s[c] = rate(c, o, float64(len(captions)))
				silent.times((1 - s[c]) * f.words.unsaid[c])
			}
			base, partner := silent.log(), f.in.Captions[f.partner[n]]
			t := func(caption []int32) float64 {
				sum := base
				for _, class := range caption {
					sum += f.words.mention(class, s[class])
				}
				return sum
			}
			for c, caption := range captions {
				f.own[f.first[n]+c], f.null[f.first[n]+c] = t(caption), t(partner[c%len(partner)])
			}
		}
	})
}

// learnClassifier does a step of Newton's for the logistic regression of mentions on scores, weighted by votes, with a
// ridge of 5 on alpha-1/2 and 1 on beta's step.
func (f *finder) learnClassifier(ctx context.Context, m *classifier) error {
	const ridgeA, ridgeB, toward = 5, 1, .5
	k := f.in.Classes
	all := make([][]newton, blocks)
	err := f.eachBlock(ctx, func(block int) func(bag int) {
		sums, said := make([]newton, k), make([]float64, k)
		all[block] = sums
		return func(n int) {
			scores := f.scoresOf(n)
			if scores == nil {
				return
			}
			votes := 0.0
			for c, caption := range f.in.Captions[n] {
				r := f.votes[f.first[n]+c]
				votes += r
				for _, class := range caption {
					said[class] += r
				}
			}
			for c, o := range scores {
				s := sigmoid(m.alpha[c]*float64(o) + m.beta[c])
				sums[c].add(said[c]-votes*s, votes*s*(1-s), float64(o))
				said[c] = 0
			}
		}
	})
	if err != nil {
		return err
	}
	for c := range k {
		var n newton
		for _, sums := range all {
			n.plus(&sums[c])
		}
		n.a -= ridgeA * (m.alpha[c] - toward)
		n.aa += ridgeA
		n.bb += ridgeB
		n.step(&m.alpha[c], &m.beta[c])
	}
	return nil
}
