package misplaced

import (
	"context"
	"math"
)

// classifier is the evidence of scores on captions without the others of their bag: an own caption mentions a
// word with probability s = sigmoid(alpha o + beta), a foreign one with pi. If most captions are foreign, the
// bag's own captions find no other to agree with, and this is the only evidence.
type classifier struct{ alpha, beta []float64 }

const (
	classifierRounds = 6
	classifierStart  = .7 // logit by which a score of one standard deviation more raises a rate
)

// byClassifier judges the captions of bags with scores by these alone. Votes teach how mentions follow scores, and that
// gives new votes.
func (f *finder) byClassifier(ctx context.Context) error {
	f.scoresAlone = true
	clear(f.own) // captions of bags without scores are as likely as foreign ones
	clear(f.null)
	m, err := f.startClassifier(ctx)
	if err != nil {
		return err
	}
	if err := f.judgeByScores(ctx, m); err != nil {
		return err
	}
	if err := f.vote(ctx); err != nil {
		return err
	}
	f.byScore = m
	for range classifierRounds {
		for range 2 {
			if err := f.learnClassifier(ctx, m); err != nil {
				return err
			}
		}
		if err := f.judgeByScores(ctx, m); err != nil {
			return err
		}
		if err := f.vote(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startClassifier starts with own captions that mention a word as often as all do, and more often if its
// score is higher than usual, whether the scores predict mentions or the truth.
func (f *finder) startClassifier(ctx context.Context) (*classifier, error) {
	k := f.in.Classes
	own := make([][]float64, f.blocks) // per class: number of scores, their sum and the sum of their squares
	err := f.eachBlock(ctx, func(block int) func(bag int) {
		sums := make([]float64, 3*k)
		own[block] = sums
		return func(n int) {
			for c, o := range f.scoresOf(n) {
				m := sums[3*c : 3*c+3]
				m[0], m[1], m[2] = m[0]+1, m[1]+float64(o), m[2]+float64(o)*float64(o)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	all := sumBlocks(own)
	m := &classifier{alpha: make([]float64, k), beta: make([]float64, k)}
	for c, pi := range f.words.pi {
		scores := max(all[3*c], 1)
		mean := all[3*c+1] / scores
		deviation := math.Sqrt(max(all[3*c+2]/scores-mean*mean, 1e-6))
		m.alpha[c] = classifierStart / deviation
		m.beta[c] = math.Log(pi/(1-pi)) - m.alpha[c]*mean
	}
	return m, nil
}

// rate is the probability that an own caption mentions a word of that score.
func (m *classifier) rate(c int, o float32) float64 {
	return min(max(sigmoid(m.alpha[c]*float64(o)+m.beta[c]), leastChance), mostRate)
}

// judgeByScores finds t of the captions of bags with scores, and of others in their places.
func (f *finder) judgeByScores(ctx context.Context, m *classifier) error {
	return f.eachBlock(ctx, func(int) func(bag int) {
		s := make([]float64, f.in.Classes)
		return func(n int) {
			scores, captions := f.scoresOf(n), f.in.Captions[n]
			if scores == nil || len(captions) == 0 {
				return
			}
			silent := logSum{product: 1}
			for c, o := range scores {
				s[c] = m.rate(c, o)
				silent.times((1 - s[c]) * f.words.unsaid[c])
			}
			base, union, others := silent.log(), f.index.unionOf(n), f.index.other[f.index.others[n]:]
			for c, caption := range captions {
				t, null := base, base
				for _, class := range caption {
					t += f.words.mention(class, s[class])
				}
				var replaced []int32
				replaced, others = nextOther(others)
				for _, place := range replaced {
					class := classAt(union, place)
					null += f.words.mention(class, s[class])
				}
				f.own[f.first[n]+c], f.null[f.first[n]+c] = t, null
			}
		}
	})
}

// learnClassifier does a step of Newton's for the logistic regression of mentions on scores, weighted by votes, with a
// ridge of 5 on alpha-1/2 and 1 on beta's step.
func (f *finder) learnClassifier(ctx context.Context, m *classifier) error {
	const ridgeA, ridgeB, toward = 5, 1, .5
	k := f.in.Classes
	blocks := make([][]newton, f.blocks)
	err := f.eachBlock(ctx, func(block int) func(bag int) {
		sums, said := make([]newton, k), make([]float64, k)
		blocks[block] = sums
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
	sums := make([]newton, k)
	for c := range k {
		n := &sums[c]
		for _, block := range blocks {
			n.plus(&block[c])
		}
		n.a -= ridgeA * (m.alpha[c] - toward)
		n.aa += ridgeA
		n.bb += ridgeB
		n.step(&m.alpha[c], &m.beta[c])
	}
	return nil
}
