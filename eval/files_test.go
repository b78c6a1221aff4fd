package eval

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestFiles_KnownAnswer(t *testing.T) {
	dir := t.TempDir()
	f := Files{Scores: filepath.Join(dir, "s.csv"), Counts: filepath.Join(dir, "c.csv"), CaptionsPerSample: 5}
	for path, text := range map[string]string{
		f.Scores: "id,dog,cat\n1,.5,.9\n2,.5,.8\n3,.5,.7\n4,.5,.6\n5,.5,.1\n",
		f.Counts: "id,cat,dog\n5,0,0\n4,2,0\n3,1,0\n2,0,0\n1,5,0\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in, err := f.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Evaluate(in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(r.Human.AP.All)-.9407895) > 5e-7 || r.Human.Seen.All != 1 || r.GroupSize.Group != nil {
		t.Errorf("AP %v of %d words seen", r.Human.AP.All, r.Human.Seen.All)
	}
}
