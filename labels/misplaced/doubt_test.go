package misplaced

import (
	"strings"
	"testing"
)

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
