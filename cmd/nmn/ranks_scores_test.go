package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Predictions, measures and extracted rows of ranks are those of one process to the byte, and rank 0 alone writes.
func TestRanks_ScoreWhatOneProcessScores(t *testing.T) {
	dir, model := t.TempDir(), filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "nmn-fd", "--run-dir", model, "-q")...)
	must(t, "scenes", filepath.Join(dir, "scenes"), "--number", "23")
	pictures := filepath.Join(dir, "scenes")
	for _, args := range [][]string{
		{"predict", model, pictures, "--format", "csv", "--batch-size", "3", "--device", "cpu"},
		{"predict", model, pictures, "--json", "--batch-size", "3", "--device", "cpu"},
		{"eval", model, "--json", "--device", "cpu"},
	} {
		want := must(t, args...)
		for _, n := range []int{2, 3} {
			if got := mustOnRanks(t, n, args...); got != want || len(want) < 100 {
				t.Errorf("nmn %s on %d ranks prints %d bytes, alone %d, or others", args[0], n, len(got), len(want))
			}
		}
	}
	for _, n := range []int{1, 3} {
		out := filepath.Join(dir, string(rune('0'+n)))
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		mustOnRanks(t, n, "extract", model, "--split", "test", "--layer", "pool5,fc7", "--batch-size", "5", "--device", "cpu",
			"--output", filepath.Join(out, "x.npy")+","+filepath.Join(out, "h.safetensors"),
			"--output-labels", filepath.Join(out, "y.csv"))
	}
	for _, name := range []string{"x.npy", "h.safetensors", "y.csv"} {
		one, err := os.ReadFile(filepath.Join(dir, "1", name))
		if err != nil {
			t.Fatal(err)
		}
		if three, err := os.ReadFile(filepath.Join(dir, "3", name)); err != nil || string(three) != string(one) {
			t.Errorf("%s of three ranks is not that of one: %v", name, err)
		}
	}
}
