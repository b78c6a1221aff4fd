package misplaced

import (
	"context"
	"math"
	"slices"
	"testing"
)

// The evidence is the sum over captions of their votes times the log likelihood ratio, between a word that
// holds and one that does not, of mentioning it or leaving it out.
func TestEvidence_IsTheEquation(t *testing.T) {
	p := replaced(400, 2)
	p.captions[3], p.captions[4] = nil, [][]int32{{}}
	for _, in := range []Input{{Classes: p.classes, Captions: p.captions},
		{Classes: p.classes, Captions: p.captions, Scores: p.scored(2)}} {
		r := find(t, in)
		got, err := r.Evidence(t.Context())
		check(t, err)
		if len(got) != len(p.captions)*p.classes {
			t.Fatalf("%d values, want %d × %d", len(got), len(p.captions), p.classes)
		}
		worst, at := 0.0, 0
		for n, captions := range p.captions {
			for class := range p.classes {
				want := evidenceOf(captions, r.Own[n], class, r.A[class], r.E[class])
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

func evidenceOf(captions [][]int32, votes []float64, class int, a, e float64) float64 {
	sum := 0.0
	for c, caption := range captions {
		if slices.Contains(caption, int32(class)) {
			sum += votes[c] * math.Log(a/e)
		} else {
			sum += votes[c] * math.Log((1-a)/(1-e))
		}
	}
	return sum
}

// If scores judge alone, captions still give evidence, and earlier results do not change.
func TestEvidence_WhereScoresJudgeAlone(t *testing.T) {
	unlessShort(t)
	p := replaced(2000, 4)
	scores := p.scored(2)
	for i := range scores { // as far away as a net may bring them
		if i%97 == 0 {
			scores[i] *= 1000
		}
	}
	r := find(t, Input{Classes: p.classes, Captions: p.captions, Scores: scores})
	if !r.ByScores {
		t.Fatal("the captions of a bag can agree")
	}
	a, e, reasons := slices.Clone(r.A), slices.Clone(r.E), r.Reasons(0, 0, 5)
	first, err := r.Evidence(t.Context())
	check(t, err)
	again, err := r.Evidence(t.Context())
	check(t, err)
	if !slices.Equal(first, again) {
		t.Error("the second time captions say something else")
	}
	if !slices.Equal(r.A, a) || !slices.Equal(r.E, e) || !slices.Equal(r.Reasons(0, 0, 5), reasons) {
		t.Error("the rates that were found are others afterwards")
	}
	holds, not, pairs := 0.0, 0.0, [2]float64{}
	for i, v := range first {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("bag %d, class %d: evidence %g", i/p.classes, i%p.classes, v)
		}
		pairs[p.truth[i]]++
		if p.truth[i] == 1 {
			holds += float64(v)
		} else {
			not += float64(v)
		}
	}
	if holds, not = holds/pairs[1], not/pairs[0]; !(holds > not) {
		t.Errorf("captions say %g of words that hold, and %g of others", holds, not)
	}
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
