package eval

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each list is looked at, whatever others there are.
func TestEvaluate_LooksAtEveryList(t *testing.T) {
	good := func() Input {
		return Input{Bags: 2, Classes: 2, Scores: []float32{.1, .9, .8, .2}, Truth: []uint8{0, 1, 1, 0},
			Counts: []uint8{0, 5, 3, 0}, CaptionsPerSample: 5, Words: []string{"cat", "dog"}, IDs: []string{"a", "b"}}
	}
	if _, err := Evaluate(good(), Options{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(*Input)
		cause error
		says  string
	}{
		"truth without labels": {func(in *Input) { in.Truth[3] = 2 }, ErrValue, "true labels"},
		"truth too short":      {func(in *Input) { in.Truth = in.Truth[1:] }, ErrShape, "true labels"},
		"labels":               {func(in *Input) { in.Labels = []uint8{0, 1, 7, 0} }, ErrValue, "labels"},
		"words":                {func(in *Input) { in.Words = in.Words[1:] }, ErrShape, "1 names for 2 classes"},
		"identifiers": {func(in *Input) { in.IDs = append(in.IDs, "c") }, ErrShape,
			"3 identifiers for 2 samples"},
		"counts": {func(in *Input) { in.Counts[3] = 6 }, ErrValue, "6"},
	} {
		in := good()
		c.spoil(&in)
		if _, err := Evaluate(in, Options{}); !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.cause, c.says)
		}
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
