package misplaced

import (
	"context"
	"fmt"
	"math"
	"slices"
)

const (
	consensusRounds = 10
	startVote       = .7 // vote of every caption at the start
	mostForeign     = .5 // foreign share above which scores are needed, because captions no longer suffice
	// leastCaptions are what densities can be compared of.
	leastCaptions = 200
	// leastLikelihood is the least gain in likelihood over captions of random other bags, in nats per
	// caption. Below it, own and foreign captions cannot be separated.
	leastLikelihood = .005
	leastNats       = 10 // gain of all captions together, above that: few captions predict each other well by chance
	mostDoubt       = .3 // width of the middle 95 % of the resamples of the share
	// leastOwn captions a bag must be expected, so that they can agree.
	leastOwn = 1.25
)

// Find judges every caption by the others of its bag, and by the scores if there are any. The result depends
// only on the input and the seed. Errors come from Check or the context.
func Find(ctx context.Context, in Input, o Options) (*Result, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	f, err := newFinder(ctx, in, o)
	if err != nil {
		return nil, err
	}
	r := &Result{finder: f, Frequency: f.words.pi, Interval: Interval{math.NaN(), math.NaN()}}
	if r.Refusal = f.unjudged(); r.Refusal != "" {
		for i := range f.votes {
			f.votes[i] = 1
		}
	} else {
		r.judged = true
		if err := f.find(ctx, r, o); err != nil {
			return nil, err
		}
	}
	r.A, r.E = f.words.a, f.words.e
	r.fill()
	if r.Refusal == "" {
		var doubt float64
		if r.Interval, doubt, err = f.interval(ctx, r.Foreign, o); err != nil {
			return nil, err
		}
		if i := r.Interval; doubt > mostDoubt {
			r.Refusal = Refusal(fmt.Sprintf("the share of foreign captions may be anything from %.0f to %.0f %%: more "+
				"captions, or better scores, are needed", 100*i.Low, 100*i.High))
		}
	}
	return r, nil
}

// unjudged explains why nothing can be judged at all; empty if something can.
func (f *finder) unjudged() Refusal {
	bags, several := 0, 0
	for _, captions := range f.in.Captions {
		if len(captions) > 0 {
			bags++
		}
		if len(captions) > 1 {
			several++
		}
	}
	switch {
	case f.captions < leastCaptions:
		return Refusal(fmt.Sprintf("%d captions are too few: at least %d are needed to compare a picture's captions "+
			"with others",
			f.captions, leastCaptions))
	case bags < 2:
		return "all captions belong to one picture: there is no other to compare them with"
	case several == 0 && f.in.Scores == nil:
		return "every picture has only one caption, so captions cannot be compared: scores of a classifier are needed"
	}
	return ""
}

// find chooses how captions are judged: by each other from the start; if most then seem foreign, by the
// scores alone; and from that result by each other again. It keeps the result that predicts the captions
// best.
func (f *finder) find(ctx context.Context, r *Result, o Options) error {
	progress := func(part int) {
		if o.Progress != nil {
			o.Progress(part, 4)
		}
	}
	progress(1)
	for i := range f.votes {
		f.votes[i] = startVote
	}
	if err := f.rounds(ctx, consensusRounds); err != nil {
		return err
	}
	best, err := f.state(ctx)
	if err != nil {
		return err
	}
	if f.eps >= mostForeign && f.in.Scores != nil {
		progress(2)
		f.fork()
		if err := f.byClassifier(ctx); err != nil {
			return err
		}
		scores, err := f.state(ctx)
		if err != nil {
			return err
		}
		f.fork()
		f.byScore, f.scoresAlone = nil, false
		f.words.restart()
		if err := f.rounds(ctx, consensusRounds); err != nil {
			return err
		}
		again, err := f.state(ctx)
		if err != nil {
			return err
		}
		for _, s := range []*state{scores, again} {
			if s.likelihood > best.likelihood {
				best = s
			}
		}
	}
	f.restore(best)
	r.ByScores = f.scoresAlone
	progress(3)
	none, err := f.noneForeign(ctx)
	if err != nil {
		return err
	}
	r.Gain = best.likelihood - none
	r.Refusal = f.unidentified(best, r.Gain)
	progress(4)
	return nil
}

// unidentified explains why captions do not identify themselves; empty if they do.
func (f *finder) unidentified(s *state, gain float64) Refusal {
	captions, bags := 0, 0
	for n, own := range f.in.Captions {
		if of := len(own); of > 0 && (of > 1 || f.scored(n)) {
			captions, bags = captions+of, bags+1
		}
	}
	tells := s.likelihood - leastNats/float64(f.captions)
	switch own := (1 - s.eps) * float64(captions) / float64(max(bags, 1)); {
	case tells < leastLikelihood && f.in.Scores != nil:
		return "neither the scores nor the other captions of a picture predict a caption better than random other " +
			"pictures do"
	case tells < leastLikelihood:
		return "the captions of a picture predict each other no better than random captions do: most are foreign, " +
			"or captions are too short; scores of a classifier may separate them"
	case own < leastOwn && f.in.Scores == nil:
		return Refusal(fmt.Sprintf("%.0f %% of the captions seem foreign, and each picture has too few captions of its own "+
			"to compare: scores of a classifier are needed", 100*s.eps))
	case gain <= 0:
		return "the captions are predicted as well if none is foreign"
	}
	return ""
}

// state is the current result of a way of judging.
type state struct {
	votes, own, null []float64
	words            *words
	compared         []*densities
	byScore          *classifier
	scoresAlone      bool
	eps, likelihood  float64
}

// state returns the result of the current way of judging.
func (f *finder) state(ctx context.Context) (*state, error) {
	likelihood, err := f.likelihood(ctx)
	if err != nil {
		return nil, err
	}
	s := f.now()
	s.likelihood = likelihood
	return s, nil
}

// fork goes on with copies, so that a state stays as it is.
func (f *finder) fork() {
	f.votes, f.own, f.null, f.words = slices.Clone(f.votes), slices.Clone(f.own), slices.Clone(f.null), f.words.clone()
}

// now is the state, up to a fork.
func (f *finder) now() *state {
	return &state{votes: f.votes, own: f.own, null: f.null, words: f.words, compared: f.compared, byScore: f.byScore,
		scoresAlone: f.scoresAlone, eps: f.eps}
}

func (f *finder) restore(s *state) {
	f.votes, f.own, f.null, f.words, f.compared = s.votes, s.own, s.null, s.words, s.compared
	f.byScore, f.scoresAlone, f.eps = s.byScore, s.scoresAlone, s.eps
}

// likelihood is how much better the captions are foretold than captions of random other bags, in nats a caption, when a
// share of them is foreign: the best share.
func (f *finder) likelihood(ctx context.Context) (float64, error) {
	const rounds = 50
	odds := make([]float64, len(f.own))
	for i, t := range f.own {
		odds[i] = math.Exp(min(t, mostT))
	}
	share, n := .5, float64(f.captions)
	for range rounds - 1 {
		foreign, err := f.sumCaptions(ctx, func(from, to int) float64 {
			sum := 0.0
			for _, o := range odds[from:to] {
				sum += share / (share + (1-share)*o)
			}
			return sum
		})
		if err != nil {
			return 0, err
		}
		share = foreign / n
	}
	sum, err := f.sumCaptions(ctx, func(from, to int) float64 {
		sum := 0.0
		for _, o := range odds[from:to] {
			sum += math.Log(share + (1-share)*o)
		}
		return sum
	})
	return sum / n, err
}

// mostT bounds the exponent.
const mostT = 500

// noneForeign returns the likelihood of the captions if all belong to their bags. The votes and rates of f
// stay.
func (f *finder) noneForeign(ctx context.Context) (float64, error) {
	const passes = 5
	before := f.now()
	defer f.restore(before)
	f.fork()
	f.byScore, f.scoresAlone = nil, false
	f.words.restart()
	for i := range f.votes {
		f.votes[i] = 1
	}
	for range passes {
		if err := f.pass(ctx); err != nil {
			return 0, err
		}
	}
	sum, err := f.sumCaptions(ctx, func(from, to int) float64 {
		sum := 0.0
		for _, t := range f.own[from:to] {
			sum += t
		}
		return sum
	})
	return sum / float64(f.captions), err
}

// fill lays the votes out by bags.
func (r *Result) fill() {
	f := r.finder
	r.Foreign = f.eps
	lone := 0
	r.Own = make([][]float64, len(f.in.Captions))
	for n := range r.Own {
		from, to := f.first[n], f.first[n+1]
		if r.Own[n] = f.votes[from:to:to]; r.alone(n) {
			lone += to - from
			for at := from; at < to; at++ {
				f.votes[at] = 1 - f.eps
			}
		}
	}
	if lone > 0 && r.Refusal == "" {
		r.Remarks = append(r.Remarks, fmt.Sprintf("%d captions cannot be compared with others, and are kept", lone))
	}
	if r.ByScores {
		r.Remarks = append(r.Remarks,
			"most captions are foreign: captions are judged by the scores alone, since the others have no caption to agree "+
				"with")
	}
}

// alone reports whether the captions of a bag have no witness.
func (r *Result) alone(bag int) bool {
	return !r.finder.scored(bag) && (len(r.finder.in.Captions[bag]) == 1 || r.ByScores)
}
