package misplaced

import (
	"context"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
)

// The evidence is that of the equation, in which the probability of each caption is by all its words but the one at
// hand.
func TestEvidence_IsTheEquation(t *testing.T) {
	p := replaced(400, 2)
	p.captions[3], p.captions[4] = nil, [][]int32{{}}
	for _, in := range []Input{{Classes: p.classes, Captions: p.captions},
		{Classes: p.classes, Captions: p.captions, Scores: p.scored(2)}} {
		r := find(t, in)
		got := expect.Value(r.Evidence(t.Context()))(t)
		if len(got) != len(p.captions)*p.classes {
			t.Fatalf("%d values, want %d × %d", len(got), len(p.captions), p.classes)
		}
		worst, at := 0.0, 0
		for n := range p.captions {
			for class := range p.classes {
				want := evidenceOf(r, n, class)
				if off := math.Abs(float64(got[n*p.classes+class])-want) / (1 + math.Abs(want)); !(off <= worst) {
					worst, at = off, n
				}
			}
		}
		t.Logf("scores %t: off by %g at most, relatively", in.Scores != nil, worst)
		if !(worst < 1e-5) {
			t.Errorf("scores %t: bag %d is off by %g", in.Scores != nil, at, worst)
		}
	}
}

// evidenceOf is the evidence by its definition.
func evidenceOf(r *Result, bag, class int) float64 {
	w, captions, votes := r.finder.words, r.finder.in.Captions[bag], r.Own[bag]
	a, e, pi := r.A[class], r.E[class], r.Frequency[class]
	holds := logit(w.p[class])
	if scores := r.finder.scoresOf(bag); scores != nil {
		holds = w.alpha[class]*float64(scores[class]) + w.beta[class]
	}
	mentions := func(c int) bool { return slices.Contains(captions[c], int32(class)) }
	product := 1.0
	for c, v := range votes {
		if !mentions(c) {
			product *= (v*(1-a) + (1-v)*(1-pi)) / (v*(1-e) + (1-v)*(1-pi))
			continue
		}
		others := holds
		for other, v := range votes {
			switch {
			case other == c:
			case mentions(other):
				others += v * math.Log(a/e)
			default:
				others += v * math.Log((1-a)/(1-e))
			}
		}
		said := sigmoid(others)*a + (1-sigmoid(others))*e
		odds := v / (1 - v) * math.Pow(pi/said, temper)
		if v == 1 {
			odds = math.Inf(1)
		}
		v = 1 / (1 + 1/odds)
		product *= (v*a + (1-v)*pi) / (v*e + (1-v)*pi)
	}
	return math.Log(neverMentioned + (1-neverMentioned)*product)
}

func TestEvidence_OfWhatCannotBeJudged(t *testing.T) {
	for name, in := range map[string]Input{
		"no bags":     {Classes: 3},
		"no captions": {Classes: 3, Captions: make([][][]int32, 4)},
		"few":         {Classes: 3, Captions: [][][]int32{{{0, 1}, {1}}, {{}, {2}}}},
		"every word":  {Classes: 1, Captions: slices.Repeat([][][]int32{{{0}, {0}, {0}}}, 300)},
	} {
		got, err := find(t, in).Evidence(t.Context())
		if err != nil || len(got) != len(in.Captions)*in.Classes {
			t.Errorf("%s: %d values, %v", name, len(got), err)
		}
		for i, v := range got {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Errorf("%s: bag %d, class %d: evidence %g", name, i/in.Classes, i%in.Classes, v)
			}
		}
	}
	p := replaced(300, 1)
	r := find(t, Input{Classes: p.classes, Captions: p.captions})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Evidence(ctx); err != context.Canceled {
		t.Errorf("after a signal: %v", err)
	}
}
