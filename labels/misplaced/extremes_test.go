package misplaced

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// Scores beyond all odds, words in every caption and in none, and one bag of very many captions overflow nothing.
func TestFind_StaysFinite(t *testing.T) {
	unlessShort(t)
	p := replaced(1500, 2)
	k := p.classes
	for n, captions := range p.captions {
		for c, caption := range captions {
			caption = slices.DeleteFunc(slices.Clone(caption), func(class int32) bool { return class == 0 || class == 1 })
			captions[c] = append([]int32{0}, caption...) // 0 in every caption, 1 in none
		}
		if n > 300 && n < 900 {
			p.captions[7] = append(p.captions[7], captions...)
		}
	}
	scores := p.scored(2)
	for i := range scores {
		switch i % 11 {
		case 0:
			scores[i] *= 1e30
		case 1:
			scores[i] *= 1e4
		case 2:
			scores[i] = math.MaxFloat32
		case 3:
			scores[i] = -math.MaxFloat32
		}
	}
	for _, in := range []Input{{Classes: k, Captions: p.captions}, {Classes: k, Captions: p.captions, Scores: scores}} {
		r := find(t, in)
		finite := func(what string, values ...float64) {
			for i, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("scores %t: %s of %d is %g", in.Scores != nil, what, i, v)
				}
			}
		}
		evidence := expect.Value(r.Evidence(t.Context()))(t)
		for _, v := range evidence {
			finite("evidence", float64(v))
		}
		finite("share and gain", r.Foreign, r.Gain)
		finite("a", r.A...)
		finite("e", r.E...)
		finite("t", r.finder.own...)
		finite("t in its place", r.finder.null...)
		for _, own := range r.Own {
			finite("own", own...)
		}
	}
}

// A few captions with weak scores carry little information: if the share may be nearly anything, nothing is
// dropped.
func TestFind_RefusesAnUncertainShare(t *testing.T) {
	unlessShort(t)
	p := replaced(260, 2)
	lone := make([][][]int32, len(p.captions))
	for n := range lone {
		lone[n] = p.captions[n][:1]
	}
	refused := 0
	for _, strength := range []float64{.2, .4, .6, .8} {
		r := find(t, Input{Classes: p.classes, Captions: lone, Scores: p.scored(strength)})
		t.Logf("strength %g: share %.2f, %.2f: %s", strength, r.Foreign, r.Interval, r.Refusal)
		if r.Refusal == "" && r.Interval.High-r.Interval.Low > wider*mostDoubt+2*modelDoubt {
			t.Errorf("strength %g: the share may be %.2f, and nothing is refused", strength, r.Interval)
		}
		if strings.Contains(string(r.Refusal), "may be anything") {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no share is uncertain")
	}
}
