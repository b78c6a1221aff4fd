//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/safetensors"
)

func TestWithRanks_LeavesThemOutWhereThereIsNoMPI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	chosen, _ := withRanks([]scenario{{name: "alone"}, {name: "together", ranks: 2}}, t.TempDir())
	if len(chosen) != 1 || chosen[0].name != "alone" {
		t.Errorf("chosen are %v, want the one that needs no ranks", chosen)
	}
}

// mpirun may only report that a process has ended, if it first notices the ranks that it has ended itself.
func TestTellsOfLoss(t *testing.T) {
	const mute = "Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n"
	for stderr, want := range map[string]bool{
		mute:                        false,
		mute + "nmn: interrupted\n": false,
		mute + "mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 9 (Killed).\n":      true,
		mute + "nmn: interrupted while rank 1 of 2 waited for all ranks to start: signal: terminated\n":       true,
		mute + "nmn: rank 0 (vm, process 7): not in time (call 3, 10m0s); its process does not answer\n":      true,
		mute + "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 15 (Terminated).\n": false,
	} {
		if got := tellsOfLoss(stderr, 0); got != want {
			t.Errorf("%q reports the loss of rank 0: %t, want %t", stderr, got, want)
		}
	}
}

// layRun writes the files that compareMixed reads.
func layRun(t *testing.T, dir string, steps int, weights ...float32) {
	t.Helper()
	check(t, os.MkdirAll(dir, 0o777))
	var log strings.Builder
	for step := range steps {
		fmt.Fprintf(&log, `{"msg":"step","step":%d,"loss":%v}`+"\n", step+1, weights[0])
	}
	check(t, os.WriteFile(filepath.Join(dir, "log.jsonl"), []byte(log.String()), 0o666))
	_, err := safetensors.WriteFile(filepath.Join(dir, "last.safetensors"), nil, []safetensors.Tensor{
		{Name: "w", Shape: []int{len(weights)}, Data: weights}})
	check(t, err)
}

// Sums in another order are no loss. One step more or less is a loss, and so are a missing file and NaN.
func TestCompareMixed(t *testing.T) {
	nan := float32(0)
	nan /= nan
	for name, c := range map[string]struct {
		steps   int
		weights []float32
		more    string // a file
		lost    string // part of the message
	}{
		"the same":        {3, []float32{1, -2, 3}, "", ""},
		"another order":   {3, []float32{1.001, -2, 3}, "", ""},
		"another step":    {3, []float32{1, -1, 3}, "", "run: w is off by 0.27 of its norm"},
		"no number":       {3, []float32{1, nan, 3}, "", "w is off by NaN"},
		"another length":  {3, []float32{1, -2}, "", "w is off by NaN"},
		"a step less":     {2, []float32{1, -2, 3}, "", "steps [1 2], want [1 2 3]"},
		"a file too many": {3, []float32{1, -2, 3}, "left.csv", "left.csv is left over"},
	} {
		dir := t.TempDir()
		l := &lab{dir: dir}
		want := filepath.Join(dir, "reference-a", "work")
		layRun(t, filepath.Join(want, "run"), 3, 1, -2, 3)
		ref, err := readTree(want)
		check(t, err)
		r := &trial{lab: l, s: scenario{name: "a", runs: []string{"run"}}, ref: &reference{tree: ref},
			folder: filepath.Join(dir, "a-1")}
		layRun(t, filepath.Join(r.work(), "run"), c.steps, c.weights...)
		if c.more != "" {
			check(t, os.WriteFile(filepath.Join(r.work(), c.more), nil, 0o666))
		}
		check(t, r.compareMixed())
		found := strings.Join(r.Lost, "; ")
		if (c.lost == "") != (found == "") || !strings.Contains(found, c.lost) {
			t.Errorf("%s: lost %q, want %q", name, found, c.lost)
		}
	}
}
