package misplaced

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"nmn/internal/rng"
)

// voted makes the finder of pictures with scores, whose captions have votes at random.
func voted(t *testing.T) (f *finder, p *pictures, scores []float32) {
	t.Helper()
	p = replaced(300, 2)
	scores = p.scored(1)
	f = finderOf(t, Input{Classes: p.classes, Captions: p.captions, Scores: scores})
	s := rng.New(3)
	for i := range f.votes {
		f.votes[i] = s.Float64()
	}
	return f, p, scores
}

// someClassifier has another slope and level for each class.
func someClassifier(k int) *classifier {
	m := &classifier{alpha: make([]float64, k), beta: make([]float64, k)}
	s := rng.New(4)
	for c := range k {
		m.alpha[c], m.beta[c] = s.Normal(.5, .2), s.Normal(-1, .5)
	}
	return m
}

// t of a caption by the scores alone, computed for all classes as the equations say.
func TestJudgeByScores_IsTheEquation(t *testing.T) {
	f, p, scores := voted(t)
	m, k := someClassifier(p.classes), p.classes
	check(t, f.judgeByScores(t.Context(), m))
	partners := partners(f, 1)
	for n, of := range p.captions {
		for c, caption := range of {
			for _, each := range []struct {
				words []int32
				got   float64
			}{{caption, f.own[f.first[n]+c]}, {p.captions[partners[n]][c], f.null[f.first[n]+c]}} {
				want := 0.0
				for class := range k {
					s, pi := sigmoid(m.alpha[class]*float64(scores[n*k+class])+m.beta[class]), f.words.pi[class]
					if slices.Contains(each.words, int32(class)) {
						want += math.Log(s / pi)
					} else {
						want += math.Log((1 - s) / (1 - pi))
					}
				}
				if math.Abs(each.got-want) > 1e-9 {
					t.Fatalf("bag %d, caption %d: t is %g, want %g", n, c, each.got, want)
				}
			}
		}
	}
}

// A step is Newton's step from the derivatives of the likelihood of all mentions, taken here by differences.
func TestLearnClassifier_IsAStepUpTheLikelihood(t *testing.T) {
	f, p, scores := voted(t)
	k := p.classes
	m := someClassifier(k)
	was := classifier{alpha: slices.Clone(m.alpha), beta: slices.Clone(m.beta)}
	check(t, f.learnClassifier(t.Context(), m))
	for class := range k {
		likelihood := func(alpha, beta float64) float64 {
			sum := -5. / 2 * (alpha - .5) * (alpha - .5)
			for n, of := range p.captions {
				s := sigmoid(alpha*float64(scores[n*k+class]) + beta)
				for c, caption := range of {
					if slices.Contains(caption, int32(class)) {
						sum += f.votes[f.first[n]+c] * math.Log(s)
					} else {
						sum += f.votes[f.first[n]+c] * math.Log(1-s)
					}
				}
			}
			return sum
		}
		const d = 1e-3
		a, b := was.alpha[class], was.beta[class]
		at := likelihood(a, b)
		up, down, right, left := likelihood(a+d, b), likelihood(a-d, b), likelihood(a, b+d), likelihood(a, b-d)
		ga, gb := (up-down)/(2*d), (right-left)/(2*d)
		haa, hbb := -(up-2*at+down)/(d*d), -(right-2*at+left)/(d*d)+1 // with the ridge on the step of beta
		hab := -(likelihood(a+d, b+d) - likelihood(a+d, b-d) - likelihood(a-d, b+d) + likelihood(a-d, b-d)) / (4 * d * d)
		det := haa*hbb - hab*hab
		alpha, beta := a+(hbb*ga-hab*gb)/det, b+(haa*gb-hab*ga)/det
		if math.Abs(m.alpha[class]-alpha) > 1e-3 || math.Abs(m.beta[class]-beta) > 1e-3 {
			t.Errorf("class %d: alpha %g and beta %g, want %g and %g", class, m.alpha[class], m.beta[class], alpha, beta)
		}
	}
}

// A signal ends the work in whatever part it comes, and no part of a result is given.
func TestFind_EndsInEveryPart(t *testing.T) {
	p := replaced(400, 4)
	in := Input{Classes: p.classes, Captions: p.captions, Scores: p.scored(2)}
	for part := 1; part <= 4; part++ {
		ctx, cancel := context.WithCancel(t.Context())
		reached := false
		r, err := Find(ctx, in, Options{Resamples: 10, Progress: func(now, parts int) {
			if parts != 4 {
				t.Errorf("part %d of %d, want 4", now, parts)
			}
			if now == part {
				reached = true
				cancel()
			}
		}})
		cancel()
		if !reached || r != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("a signal in part %d (reached: %t): %v, %v", part, reached, r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := finderOf(t, in)
	if err := f.byClassifier(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("judging by scores after a signal: %v", err)
	}
	if err := f.rounds(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("judging by other captions after a signal: %v", err)
	}
}

// A cancelled run stops within a block: with many bags, one block takes minutes.
func TestEachBlock_EndsWithinABlock(t *testing.T) {
	const bags = fewBlocks * 2000
	f := finderOf(t, Input{Classes: 3, Captions: make([][][]int32, bags)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var handled atomic.Int64
	cancelled := make(chan struct{})
	err := f.eachBlock(ctx, func(int) func(bag int) {
		return func(int) {
			if handled.Add(1) == 1 {
				cancel()
				close(cancelled)
			}
			<-cancelled
		}
	})
	// There are at most as many goroutines as blocks, and each ends at a multiple of 64.
	if n := handled.Load(); !errors.Is(err, context.Canceled) || n > 64*fewBlocks {
		t.Errorf("%d of %d bags are handled after a signal at the first, with the error %v", n, bags, err)
	}
}

// Captions are numbered in 32 bits; more are refused before they are looked at. Here bags share them.
func TestCheck_RefusesMoreThanCanBeNumbered(t *testing.T) {
	one := make([][]int32, 1<<15)
	in := Input{Classes: 1, Captions: slices.Repeat([][][]int32{one}, 1<<16)}
	want := "2147483648 captions, at most 2147483647"
	if err := in.Check(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
