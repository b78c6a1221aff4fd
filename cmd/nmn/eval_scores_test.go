package main

import (
	"math"
	"path/filepath"
	"testing"

	"nmn/eval"
)

func TestEvaluateScores_KnownAnswer(t *testing.T) {
	dir := t.TempDir()
	f := scoreFiles{scores: filepath.Join(dir, "s.csv"), counts: filepath.Join(dir, "c.csv"), captionsPerBag: 5}
	write(t, f.scores, "id,dog,cat\n1,.5,.9\n2,.5,.8\n3,.5,.7\n4,.5,.6\n5,.5,.1\n")
	write(t, f.counts, "id,cat,dog\n5,0,0\n4,2,0\n3,1,0\n2,0,0\n1,5,0\n")
	r, err := evaluateScores(f, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(r.Human.AP.All)-.9407895) > 5e-7 || r.Human.Seen.All != 1 || r.GroupSize.Group[0] != 0 {
		t.Errorf("AP %v of %d words seen", r.Human.AP.All, r.Human.Seen.All)
	}
}
