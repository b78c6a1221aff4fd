package eval

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
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
	expect.OK(t, err)
	r := evaluate(t, in, Options{})
	if math.Abs(float64(r.Human.AP.All)-.9407895) > 5e-7 || r.Human.Seen.All != 1 || r.GroupSize.Group != nil {
		t.Errorf("AP %v of %d words seen", r.Human.AP.All, r.Human.Seen.All)
	}
}

func TestFiles_ReportsTheFileThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"scores.csv", "labels.csv", "truth.csv"} {
		if err := os.WriteFile(path(name), []byte("cat,dog\n0,1\n1,0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := Files{Scores: path("scores.csv"), Labels: path("labels.csv"), Truth: path("truth.csv")}
	if in, err := good.Read(nil); err != nil || in.Bags != 2 || len(in.Labels) != 4 || len(in.Truth) != 4 {
		t.Fatalf("%+v, %v", in, err)
	}
	for missing, f := range map[string]Files{
		"a.csv": {Scores: path("a.csv"), Labels: good.Labels},
		"b.csv": {Scores: good.Scores, Labels: path("b.csv")},
		"c.csv": {Scores: good.Scores, Labels: good.Labels, Truth: path("c.csv")},
	} {
		if _, err := f.Read(nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}
