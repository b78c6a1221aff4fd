package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Tasks of an array that have ranks of their own, of different numbers, leave one experiment together: each sees what the
// ranks 0 of the others have written meanwhile.
func TestRanks_DoTasksOfAnArray(t *testing.T) {
	file, whole, dir := weather(t, false), filepath.Join(t.TempDir(), "grid"), filepath.Join(t.TempDir(), "grid")
	args := func(dir string, more ...string) []string {
		return smallGrid(file, dir, append(more, "--optimizer", "sgd")...)
	}
	must(t, args(whole, "-q")...)
	for rank, c := range callOnRanks(t, 2, args(dir, "--collect")...) {
		if c.code != exitUsage || rank == 0 && !strings.Contains(c.err, "--collect train nothing") {
			t.Errorf("--collect, rank %d: exit code %d, %s", rank, c.code, c.err)
		}
	}
	for _, wave := range [][][]int{{{0}, {1}}, {{2, 3}, {4, 6}, {5, 7}}} {
		var jobs sync.WaitGroup
		for i, numbers := range wave {
			jobs.Go(func() {
				for _, n := range numbers {
					for rank, c := range callOnRanks(t, i+1, args(dir, "--task", strconv.Itoa(n))...) {
						if c.code != exitOK || (c.out != "") != (rank == 0) {
							t.Errorf("task %d, rank %d of %d: exit code %d: %s", n, rank, i+1, c.code, c.err)
						}
					}
				}
			})
		}
		jobs.Wait()
	}
	must(t, args(dir, "--collect", "-q")...)
	if got, want := filesOf(t, dir), filesOf(t, whole); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	for _, arm := range []string{"stage1", "star", "r-n", "r-s"} {
		run := filepath.Join("flips-0.3-0.1", "seed-2", arm)
		nearWeights(t, arm, filepath.Join(dir, run), filepath.Join(whole, run))
	}
}
