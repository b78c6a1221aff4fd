package run_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"nmn/eval"
	"nmn/run"
)

func TestScoreFiles_KnownAnswer(t *testing.T) {
	dir := t.TempDir()
	f := run.ScoreFiles{Scores: filepath.Join(dir, "s.csv"), Counts: filepath.Join(dir, "c.csv"), CaptionsPerBag: 5}
	for path, content := range map[string]string{
		f.Scores: "id,dog,cat\n1,.5,.9\n2,.5,.8\n3,.5,.7\n4,.5,.6\n5,.5,.1\n",
		f.Counts: "id,cat,dog\n5,0,0\n4,2,0\n3,1,0\n2,0,0\n1,5,0\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, err := f.Evaluate(eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(r.Human.AP.All)-.9407895) > 5e-7 || r.Human.Seen.All != 1 || r.GroupSize.Group[0] != 0 {
		t.Errorf("AP %v of %d words seen", r.Human.AP.All, r.Human.Seen.All)
	}
}
