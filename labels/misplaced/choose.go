package misplaced

import (
	"context"
	"fmt"

	"nmn/eval"
)

const (
	// leastCaptions are what rates can be learned from.
	leastCaptions = 200
	// leastLikelihood is the least gain in likelihood over captions of random other bags, in nats per
	// caption. Below it, own and foreign captions cannot be separated.
	leastLikelihood = .005
	leastNats       = 10 // gain of all captions together, above that: few captions predict each other well by chance
	mostDoubt       = .3 // width of the middle 95 % of the resamples of the share
	// leastOwn captions a bag must be expected, so that they can agree.
	leastOwn = 1.25
	// leastAgreeing own captions a bag must be expected, so that not the scores alone judge most captions.
	leastAgreeing = 1.5
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
	r := &Result{finder: f, Frequency: f.words.pi, Interval: Interval{eval.Undefined(), eval.Undefined()}}
	if r.Refusal = f.unjudged(); r.Refusal == "" {
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

// find learns the model and judges all captions.
func (f *finder) find(ctx context.Context, r *Result, o Options) error {
	parts := f.rounds + 1
	progress := func(round int) {
		if o.Progress != nil {
			o.Progress(round+1, parts)
		}
	}
	if err := f.learn(ctx, progress); err != nil {
		return err
	}
	progress(f.rounds)
	s, err := f.pass(ctx, f.rounds, 1)
	if err != nil {
		return err
	}
	r.Foreign = f.share()
	likelihood := s.likelihood / max(s.members, 1)
	r.Gain = likelihood - s.together/max(s.members, 1)
	r.Refusal = f.unidentified(r, likelihood)
	return nil
}

// unidentified explains why captions do not identify themselves; empty if they do.
func (f *finder) unidentified(r *Result, likelihood float64) Refusal {
	captions, units := 0, 0
	for i := range f.units {
		if u := &f.units[i]; f.witnessed(u) {
			captions, units = captions+u.captions, units+1
		}
	}
	own := (1 - r.Foreign) * float64(captions) / float64(max(units, 1))
	r.ByScores = f.in.Scores != nil && own < leastAgreeing
	gain := likelihood - leastNats/float64(f.captions)
	switch {
	case gain < leastLikelihood && f.in.Scores != nil:
		return "neither the scores nor the other captions of a picture predict a caption better than random other " +
			"pictures do"
	case gain < leastLikelihood:
		return "the captions of a picture predict each other no better than random captions do: most are foreign, " +
			"or captions are too short; scores of a classifier may separate them"
	case own < leastOwn && f.in.Scores == nil:
		return Refusal(fmt.Sprintf("%.0f %% of the captions seem foreign, and each picture has too few captions of its own "+
			"to compare: scores of a classifier are needed", 100*r.Foreign))
	case r.Gain < 0 && r.Foreign > modelDoubt:
		return "the captions are predicted as well if none is foreign"
	}
	return ""
}

// fill lays the votes out by bags.
func (r *Result) fill() {
	f := r.finder
	r.Own = make([][]float64, len(f.in.Captions))
	lone := 0
	for n := range r.Own {
		from, to := f.first[n], f.first[n+1]
		if r.Own[n] = f.votes[from:to:to]; r.alone(n) {
			lone += to - from
		}
	}
	if lone > 0 && r.Refusal == "" {
		r.Remarks = append(r.Remarks, fmt.Sprintf("%d captions cannot be compared with others, and are kept", lone))
	}
	if r.ByScores {
		r.Remarks = append(r.Remarks,
			"pictures have too few captions of their own to agree: the scores judge most captions")
	}
}

// alone reports whether the captions of a bag have no witness.
func (r *Result) alone(bag int) bool {
	return !r.finder.scored(bag) && len(r.finder.in.Captions[bag]) == 1
}
