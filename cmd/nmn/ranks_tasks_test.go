package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	ranks "nmn/group"
	"nmn/group/local"
	"nmn/internal/claim"
	"nmn/internal/durable"
	"nmn/run"
)

// Tasks of an array that have ranks of their own, of different numbers, leave one experiment together, at whatever order
// they come: each sees what the ranks 0 of the others have written meanwhile.
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
	var jobs sync.WaitGroup
	for i, numbers := range [][]int{{2, 3, 7, 0}, {1, 2, 6, 4, 5}, {3}} {
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
	must(t, args(dir, "--collect", "-q")...)
	if got, want := filesOf(t, dir), filesOf(t, whole); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	for _, arm := range []string{"stage1", "star", "r-n", "r-s"} {
		run := filepath.Join("flips-0.3-0.1", "seed-2", arm)
		nearWeights(t, arm, filepath.Join(dir, run), filepath.Join(whole, run))
	}
}

// meeting is a rank that calls met whenever it meets the others.
type meeting struct {
	ranks.Group
	met func()
}

func (m meeting) Gather(own []byte) ([][]byte, error) {
	m.met()
	return m.Group.Gather(own)
}

// Rank 0 waits for the process that does the task. Meanwhile it meets the other ranks again and again. They would otherwise
// take it for dead after some time.
func TestRanks_WaitTogetherForAnotherTask(t *testing.T) {
	const often = 4
	file := weather(t, false)
	for name, c := range map[string]struct {
		wait string
		ends func(release, cancel func())
		code int
		says string
	}{
		"until it is free":      {"1h", func(release, _ func()) { release() }, exitOK, "waiting for its end"},
		"until the time is up":  {"1ms", func(_, _ func()) {}, exitFailure, "wait longer with --wait"},
		"until it is cancelled": {"1h", func(_, cancel func()) { cancel() }, exitInterrupted, "the same command goes on"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "grid")
			task := filepath.Join(dir, "flips-0.3-0.1", "seed-1", "stage1")
			if err := os.MkdirAll(task, 0o777); err != nil {
				t.Fatal(err)
			}
			held, _, err := claim.Take(t.Context(), filepath.Join(task, "task.claim"), claim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			released := sync.OnceFunc(func() {
				if err := held.Release(); err != nil {
					t.Error(err)
				}
			})
			defer released()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var waiting atomic.Bool
			var meetings atomic.Int32
			results := make([]called, 3)
			var all sync.WaitGroup
			for rank, g := range local.New(3, rankPatience) {
				all.Go(func() {
					ctx := ctx
					if rank < 2 {
						ctx = t.Context()
					}
					met := meeting{g, func() {
						if rank == 0 && waiting.Load() && meetings.Add(1) == often {
							c.ends(released, cancel)
						}
					}}
					var out bytes.Buffer
					err := watched{watch: func(text []byte) {
						if strings.Contains(string(text), "waiting for its end") {
							waiting.Store(true)
						}
					}}
					code := execute(ctx, plainGrid(file, dir, "--arms", "stage1", "--task", "0", "--wait", c.wait),
						&terminal{in: strings.NewReader(""), out: &out, err: &err, getenv: func(string) string { return "" }, joined: met})
					results[rank] = called{code, out.String(), err.String()}
				})
			}
			all.Wait()
			for rank, got := range results {
				if got.code != c.code || rank > 0 && got.err != "" || rank == 0 && !strings.Contains(got.err, c.says) {
					t.Errorf("rank %d: exit code %d, want %d: %s", rank, got.code, c.code, got.err)
				}
			}
			if durable.Exists(filepath.Join(task, run.ResultFile)) != (c.code == exitOK) {
				t.Error("the run is complete, or is not, against what was told")
			}
		})
	}
}

// The number of a task is that of rank 0: others may lack the variable that tells it.
func TestRanks_TakeTheTaskOfRank0(t *testing.T) {
	file, dir := weather(t, false), filepath.Join(t.TempDir(), "grid")
	var all sync.WaitGroup
	for rank, g := range local.New(2, rankPatience) {
		all.Go(func() {
			var out, err bytes.Buffer
			getenv := func(name string) string {
				if rank == 0 && name == "SLURM_ARRAY_TASK_ID" {
					return "1"
				}
				return ""
			}
			code := execute(t.Context(), plainGrid(file, dir, "--arms", "stage1", "--seeds", "1,2", "--task", "auto"),
				&terminal{in: strings.NewReader(""), out: &out, err: &err, getenv: getenv, joined: g})
			if code != exitOK || rank == 0 && !strings.Contains(out.String(), "task 1") {
				t.Errorf("rank %d: exit code %d: %s%s", rank, code, &out, &err)
			}
		})
	}
	all.Wait()
	if !durable.Exists(filepath.Join(dir, "flips-0.3-0.1", "seed-2", "stage1", run.ResultFile)) {
		t.Error("the task of rank 0 was not done")
	}
}
