package multiclass

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// transition is T of k classes: each is labelled right with probability 1-rate, and else mostly as the next one.
func transition(k int, rate float64) []float64 {
	t := make([]float64, k*k)
	for y := range k {
		for z := range k {
			t[y*k+z] = .4 * rate / float64(k-1)
		}
		t[y*k+(y+1)%k] += .6 * rate
		t[y*k+y] = 1 - rate
	}
	return t
}

// draw draws rows with true classes, labels through t, and scores. If learned is true, the scores come from a
// classifier that has learned from such labels, p(z|x). Otherwise they come from one that was trained on the
// true classes but is too sure.
func draw(seed uint64, n, k int, t []float64, learned bool) *Input {
	s, in := rng.New(seed, 1), &Input{Rows: n, Classes: k}
	p := make([]float64, k)
	for range n {
		sum := 0.0
		for y := range p {
			p[y] = math.Exp(s.Normal(0, 4))
			sum += p[y]
		}
		for y := range p {
			p[y] /= sum
		}
		y := choose(&s, p)
		in.Truth = append(in.Truth, int32(y))
		in.Labels = append(in.Labels, int32(choose(&s, t[y*k:(y+1)*k])))
		sharp := 0.0
		for _, q := range p {
			sharp += math.Pow(q, 1.5)
		}
		for z := range k {
			score := math.Pow(p[z], 1.5) / sharp
			if learned {
				score = 0
				for y, q := range p {
					score += q * t[y*k+z]
				}
			}
			in.Scores = append(in.Scores, float32(score))
		}
	}
	return in
}

func choose(s *rng.Stream, p []float64) int {
	u := s.Float64()
	for i, q := range p {
		if u -= q; u < 0 {
			return i
		}
	}
	return len(p) - 1
}

func audited(t *testing.T, in *Input) *Report {
	t.Helper()
	return expect.Value(Audit(t.Context(), in, DefaultOptions()))(t)
}

// The audit finds the matrix that the labels were drawn through, both from scores that are too sure and from
// scores of a classifier that has learned the noise. The posterior is right as often as it predicts, and
// finds more than confident learning.
func TestAudit_FindsTheTransitionMatrix(t *testing.T) {
	const k = 5
	want := transition(k, .3)
	for _, learned := range []bool{false, true} {
		in := draw(3, 10000, k, want, learned)
		r := audited(t, in)
		worst := 0.0
		for i, v := range want {
			worst = max(worst, math.Abs(r.T[i]-v))
		}
		t.Logf("learned %v: a %.2f, pooled %.3f, worst error of T %.3f, AP %.3f, self-confidence %.3f, margin %.3f", learned,
			r.A, r.Pooled, worst, r.Judgement.Posterior.AP, r.Judgement.Self.AP, r.Judgement.Margin.AP)
		if worst > .1 {
			t.Errorf("learned %v: T is off by %.3f: %.3f", learned, worst, r.T)
		}
		own, sums := r.newRow(), make([]float64, k)
		for i, z := range in.Labels {
			own.set(in.Scores[i*k:][:k])
			own.judge(int(z))
			for y, p := range own.posterior {
				sums[y] += p
			}
		}
		for y, expected := range r.True {
			if math.Abs(expected-sums[y]) > 1 {
				t.Errorf("learned %v: %g rows are expected of class %d, posteriors sum up to %g", learned, expected, y, sums[y])
			}
		}
		expected, found := 0.0, 0
		for _, s := range r.Suspects {
			if expected += s.Wrong; in.Truth[s.Row] != s.Given {
				found++
			}
		}
		if n := float64(len(r.Suspects)); n < 1500 || math.Abs(expected-float64(found))/n > .12 {
			t.Errorf("learned %v: of %v suspects %.0f are expected to be wrong, %d are", learned, n, expected, found)
		}
		j := r.Judgement
		if j.Posterior.AP < j.Self.AP-.005 || j.Posterior.AP < j.Margin.AP-.005 || j.Suggested < .85 ||
			j.Confident.PosteriorPrecision < j.Confident.Precision-.01 {
			t.Errorf("learned %v: %+v", learned, j)
		}
	}
}

// Labels without noise are accused by confident learning alone: no noise is found, no label is more probably wrong than
// right, and none would be corrected.
func TestAudit_CleanLabels(t *testing.T) {
	in := draw(5, 8000, 4, transition(4, 0), false)
	r := audited(t, in)
	if r.Noise != Unknown || r.Pooled > .02 || len(r.Suspects) != len(r.Confident.Pruned) ||
		atPrecision(r.Suspects, .6) > 0 {
		t.Errorf("%v noise, pooled rate %.3f, %d suspects, confident learning prunes %d", r.Noise, r.Pooled, len(r.Suspects),
			len(r.Confident.Pruned))
	}
	o := DefaultOptions()
	o.MinError = .51
	if r, err := Audit(t.Context(), in, o); err != nil || len(r.Suspects) > 0 {
		t.Errorf("%v, and %d labels are wrong rather than right", err, len(r.Suspects))
	}
}

func TestAudit_SameForAnyNumberOfProcessors(t *testing.T) {
	in := draw(7, 3000, 3, transition(3, .2), true)
	want := audited(t, in)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	got := audited(t, in)
	if !reflect.DeepEqual(got.Model, want.Model) || !reflect.DeepEqual(got.Suspects, want.Suspects) {
		t.Error("another result on one processor")
	}
}

func TestConfident_KnownAnswer(t *testing.T) {
	in := &Input{Rows: 5, Classes: 2, Labels: []int32{0, 0, 1, 1, 1},
		Scores: []float32{.7, .3, .6, .4, .1, .9, .8, .2, .5, .5}}
	c := confidentOf(in)
	if !slices.Equal(c.Joint, []int{1, 0, 1, 1}) || !slices.Equal(c.Flagged, []int{3}) {
		t.Errorf("joint %v, flagged %v", c.Joint, c.Flagged)
	}
	if s, m := in.SelfConfidence(3), in.NormalisedMargin(3); math.Abs(s-.2) > 1e-6 || math.Abs(m-.2) > 1e-6 {
		t.Errorf("self-confidence %g, normalised margin %g", s, m)
	}
}

func TestAudit_Refuses(t *testing.T) {
	good := draw(1, 20, 3, transition(3, .1), false)
	for what, change := range map[string]func(in *Input){
		"a label beyond":   func(in *Input) { in.Labels = append(slices.Clone(in.Labels[:19]), 3) },
		"a label too few":  func(in *Input) { in.Labels = in.Labels[:19] },
		"a score of NaN":   func(in *Input) { in.Scores = append(slices.Clone(in.Scores[:59]), float32(math.NaN())) },
		"a single class":   func(in *Input) { in.Classes = 1 },
		"a truth below 0":  func(in *Input) { in.Truth = append(slices.Clone(in.Truth[:19]), -1) },
		"a score too many": func(in *Input) { in.Scores = append(slices.Clone(in.Scores), .5) },
	} {
		in := *good
		change(&in)
		_, err := Audit(t.Context(), &in, DefaultOptions())
		if !errors.Is(err, eval.ErrShape) && !errors.Is(err, eval.ErrValue) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, o := range []Options{{MinError: -.1}, {MinError: 1.1}, {MinError: math.NaN()}} {
		if _, err := Audit(t.Context(), good, o); !errors.Is(err, eval.ErrValue) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Audit(ended, good, DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
