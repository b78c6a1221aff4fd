//go:build linux && cgo && (mpi || mpich)

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"nmn/reproduce"
)

// Ranks of mpirun reproduce what one process does: the same folders, figures within the rounding of sums, and pages
// that one process makes again, byte for byte, of what the ranks have left.
func TestMPI_Reproduces(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "reproduction"), filepath.Join(t.TempDir(), "reproduction")
	args := func(dir string, more ...string) []string {
		return append([]string{"reproduce", "--size", "smoke", "--only", "observed,figure3", "--seeds", "1", "--device",
			"cpu", "--threads", "1", "-q", "--run-dir", dir}, more...)
	}
	must(t, args(one)...)
	job, out, stderr := underMPI(t, 2, args(two)...)
	if err := job.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if got, want := filesOf(t, two), filesOf(t, one); !slices.Equal(got, want) {
		t.Errorf("two ranks leave %v, one process %v", got, want)
	}
	files := []string{reproduce.PageFile, reproduce.MarkdownFile, reproduce.RecordFile}
	was := map[string]string{}
	for _, name := range files {
		was[name] = string(readFile(t, two, name))
	}
	alone, ranks := resultsOf(t, one), resultsOf(t, two)
	if len(ranks) != len(alone) || len(ranks) == 0 {
		t.Errorf("two ranks have %d figures, one process %d", len(ranks), len(alone))
	}
	for key, want := range alone {
		if got, ok := ranks[key]; !ok || math.Abs(got-want) > 1 {
			t.Errorf("%s: two ranks have %g, one process %g", key, got, want)
		}
	}
	if collected := must(t, args(two, "--collect")...); collected != out.String() {
		t.Errorf("collected: %s, ranks have printed: %s", collected, out)
	}
	for _, name := range files {
		if string(readFile(t, two, name)) != was[name] {
			t.Errorf("%s is another one when one process collects", name)
		}
	}
}

// resultsOf are the figures of a reproduction in points.
func resultsOf(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	var record struct {
		Results []struct {
			Part, Arm, Words, Metric string
			Missing, Value           float64
		}
	}
	if err := json.Unmarshal(readFile(t, dir, reproduce.RecordFile), &record); err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, r := range record.Results {
		all[fmt.Sprint(r.Part, r.Arm, r.Words, r.Metric, r.Missing)] = r.Value
	}
	return all
}
