package misplaced

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
)

// The chance of each word follows the model, from the other captions of the bag and its scores.
func TestChances_AreTheEquation(t *testing.T) {
	p := replaced(300, 2)
	k, all := p.classes, p.scored(1)
	in := Input{Classes: k, Captions: p.captions}
	for n := 0; n < len(p.captions); n += 2 { // the others have none
		in.Scored = append(in.Scored, n)
		in.Scores = append(in.Scores, all[n*k:(n+1)*k]...)
	}
	f := finderOf(t, in)
	s := rng.New(3)
	for i := range f.votes {
		f.votes[i] = s.Float64()
	}
	if _, err := f.pass(t.Context(), 0, 1); err != nil {
		t.Fatal(err)
	}
	w := f.words
	for n, of := range p.captions[:20] {
		for place := range of {
			chances := f.chances(of, f.scoresOf(n), f.votes[f.first[n]:f.first[n+1]], place)
			for class := range k {
				mentioned := func(words []int32) bool { return slices.Contains(words, int32(class)) }
				got, known := chances[int32(class)]
				if known != slices.ContainsFunc(of, mentioned) {
					t.Fatalf("bag %d, class %d: there is a chance: %t", n, class, known)
				}
				if !known {
					continue
				}
				logit := math.Log(w.p[class] / (1 - w.p[class]))
				if n%2 == 0 {
					logit = w.alpha[class]*float64(all[n*k+class]) + w.beta[class]
				}
				for d, other := range of {
					if d != place && mentioned(other) {
						logit += f.votes[f.first[n]+d] * math.Log(w.a[class]/w.e[class])
					} else if d != place {
						logit += f.votes[f.first[n]+d] * math.Log((1-w.a[class])/(1-w.e[class]))
					}
				}
				y := sigmoid(logit)
				want := y*w.a[class] + (1-y)*w.e[class]
				if math.Abs(got-want) > 1e-9 {
					t.Fatalf("bag %d, caption %d, class %d: chance %g, want %g", n, place, class, got, want)
				}
			}
		}
	}
}
