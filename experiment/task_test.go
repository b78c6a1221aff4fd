package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/recipe"
	"nmn/run"
)

// open opens the session of a grid and passes its messages to a function.
func open(t *testing.T, g *Grid, told func(string)) *run.Session {
	t.Helper()
	s, err := run.Open(t.Context(), g.Config, run.Options{Observer: run.Observer{
		Message: func(m run.Message) { told(m.Text) }}})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func untold(string) {}

// A task waits while another process makes the folder of the experiment, and is refused while one does the same task.
func TestRunTask_BesideOtherProcesses(t *testing.T) {
	g := tinyGrid(t)
	waiting := func() {}
	s := open(t, g, func(text string) {
		if strings.Contains(text, "waiting for its end") {
			waiting()
		}
	})
	tasks, err := g.Tasks()
	if err != nil || len(tasks) != 1 {
		t.Fatalf("%v (%v)", tasks, err)
	}
	held := func(dir string) (release func()) {
		unlock, err := s.Ranks.Lock(t.Context(), dir)
		must(t, err)
		return func() {
			must(t, unlock())
		}
	}
	release := held(g.Dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	waiting = cancel
	if _, _, err := g.RunTask(ctx, s, 0); !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("interrupted while it waits: %v", err)
	}
	released := false
	waiting = func() { released = true; release() }
	again := held(tasks[0].Dir)
	if _, _, err := g.RunTask(t.Context(), s, 0); !errors.Is(err, run.ErrLocked) || !released {
		t.Errorf("while another process does it: %v (waited %t)", err, released)
	}
	again()
	if _, reused, err := g.RunTask(t.Context(), s, 0); err != nil || reused {
		t.Errorf("reused %t (%v)", reused, err)
	}
	if _, reused, err := g.RunTask(t.Context(), s, 0); err != nil || !reused {
		t.Errorf("again: reused %t (%v)", reused, err)
	}
	var mistake *setting.Error
	if _, _, err := g.RunTask(t.Context(), s, 1); !errors.As(err, &mistake) || mistake.Key != "experiment.task" {
		t.Errorf("a task that there is not: %v", err)
	}
}

// Task numbers follow the configuration, whatever is complete.
func TestTasks_AreNumberedByTheConfiguration(t *testing.T) {
	g := New(run.DefaultConfig(), "runs")
	g.Arms, g.Chosen = []recipe.Name{recipe.FD, recipe.Baseline}, true
	g.ReplaceCaptions, g.Seeds, g.MIL = []float64{.2, .4}, []uint64{7, 3}, BothMIL
	tasks, err := g.Tasks()
	if err != nil || len(tasks) != 2*2*2*3 {
		t.Fatalf("%d tasks (%v)", len(tasks), err)
	}
	for i, task := range tasks { // eight runs of stage 1, then two arms of each
		after, arm := -1, recipe.Stage1
		if i >= 8 {
			after, arm = (i-8)/2, []recipe.Name{recipe.Baseline, recipe.FD}[i%2]
		}
		if task.Number != i || task.Complete || task.After != after || task.Arm != arm {
			t.Errorf("task %d is %+v", i, task)
		}
	}
	if d := tasks[23].Dir; d != filepath.Join("runs", "noise-40", "seed-3", "nmn-fd-mil") {
		t.Errorf("the last one is in %s", d)
	}
}

func TestRanges_AsJobArraysTakeThem(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "4": {4}, "0-1": {0, 1}, "1,4-6,9": {1, 4, 5, 6, 9}} {
		if got := Ranges(numbers); got != want {
			t.Errorf("Ranges(%v) = %q, want %q", numbers, got, want)
		}
	}
}

// Runs of graphics cards, which compute in another precision, can be collected on a machine without a card.
func TestCollect_TakesRunsOfOtherDevices(t *testing.T) {
	g := tinyGrid(t)
	s := open(t, g, untold)
	var missing *MissingError
	if _, _, err := g.Collect(t.Context(), s, true); !errors.As(err, &missing) || len(missing.Tasks) != 1 {
		t.Errorf("nothing is there, and the error is %v", err)
	}
	card := open(t, g, untold)
	card.Config.Run.Precision = tensor.TF32
	if _, _, err := g.RunTask(t.Context(), card, 0); err != nil {
		t.Fatal(err)
	}
	o, left, err := g.Collect(t.Context(), s, false)
	if err != nil || len(left) > 0 || len(o.Runs) != 1 {
		t.Errorf("%+v, %v are left (%v)", o, left, err)
	}
	if _, err := os.Stat(filepath.Join(g.Dir, run.IndexFile)); err != nil {
		t.Error(err)
	}
}
