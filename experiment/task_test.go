package experiment

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// open opens the session of a grid and passes its messages to a function.
func open(t *testing.T, g *Grid, told func(string)) *run.Session {
	t.Helper()
	s, err := run.Open(t.Context(), g.Config, run.Options{Observer: run.Observer{
		Message: func(m run.Message) { told(m.Text) }}})
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, s.Close()) })
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
		expect.OK(t, err)
		return func() {
			expect.OK(t, unlock())
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

// tinyGrid is an experiment of stage 1 on a few scenes.
func tinyGrid(t *testing.T) *Grid {
	t.Helper()
	c, err := run.Preset(run.ScenesPreset, run.Quick)
	expect.OK(t, err)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 24, 0, 8
	c.Net.Width, c.Train.Stage1Epochs, c.Run.Device = .5, 1, "cpu"
	g := New(c, t.TempDir())
	g.Arms, g.Chosen = []recipe.Name{recipe.Stage1}, true
	expect.OK(t, g.Resolve())
	return &g
}

func TestRun_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	g := tinyGrid(t)
	s, err := run.Open(t.Context(), g.Config, run.Options{})
	expect.OK(t, err)
	defer s.Close()
	release, err := s.Ranks.Lock(t.Context(), g.Dir)
	expect.OK(t, err)
	if _, err := g.Run(t.Context(), s); !errors.Is(err, run.ErrLocked) {
		t.Errorf("while another process writes the folder: %v", err)
	}
	expect.OK(t, release())
	if _, err := g.Run(t.Context(), s); err != nil {
		t.Errorf("after it has ended: %v", err)
	}
}

// A process may be killed once its run is complete, and before it has removed its lock. The next one does, without
// training anything. A lock that is held stays.
func TestRunTask_RemovesTheLockOfADeadProcess(t *testing.T) {
	g := tinyGrid(t)
	s := open(t, g, untold)
	task, _, err := g.RunTask(t.Context(), s, 0)
	expect.OK(t, err)
	again := func() {
		t.Helper()
		if _, reused, err := g.RunTask(t.Context(), s, 0); err != nil || !reused {
			t.Errorf("reused %t (%v)", reused, err)
		}
	}
	release, err := s.Ranks.Lock(t.Context(), task.Dir)
	expect.OK(t, err)
	held, err := filepath.Glob(filepath.Join(task.Dir, "*.lock"))
	if err != nil || len(held) != 1 {
		t.Skipf("no lock here: %q (%v)", held, err)
	}
	content, err := os.ReadFile(held[0])
	expect.OK(t, err)
	again()
	if _, err := os.Stat(held[0]); err != nil {
		t.Errorf("a lock that is held: %v", err)
	}
	expect.OK(t, release())
	expect.OK(t, os.WriteFile(held[0], content, 0o666))
	again()
	if _, err := os.Stat(held[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lock that a dead process has left: %v, want none", err)
	}
}

// The time to come follows what the runs so far took, by their epochs, and runs that are reused cost nothing.
func TestPace_FollowsTheRunsSoFar(t *testing.T) {
	g := tinyGrid(t)
	g.Arms = []recipe.Name{recipe.Stage1, recipe.Baseline}
	g.Config.Train.Stage1Epochs, g.Config.Train.Stage2Epochs, g.Config.Recipe.Form = 2, 6, recipe.Paper
	p := g.newPace(2)
	if p.runs != 4 || p.kinds[false].left != 2*(2+6) {
		t.Fatalf("%d runs of %v epochs", p.runs, p.kinds[false].left)
	}
	p.ran(false, 2, false, 20*time.Second)
	if left, seen := p.left(); left != 140*time.Second || !seen {
		t.Errorf("after 2 of 16 epochs in 20 s: %v, %v", left, seen)
	}
	p.ran(false, 6, false, 180*time.Second) // the machine is busy now
	if left, _ := p.left(); left != 200*time.Second {
		t.Errorf("after 8 of 16 epochs in 200 s: %v", left)
	}
	p.ran(false, 2, true, 0)
	if left, _ := p.left(); left != 150*time.Second || p.runs != 1 {
		t.Errorf("after a run that was there: %v for %d runs", left, p.runs)
	}
}

// After the first whole epoch the time of all runs is printed once; after a run it is no longer news.
func TestPace_TellsAfterTheFirstEpoch(t *testing.T) {
	step := func(epoch, step int) train.StepDone {
		return train.StepDone{Progress: train.Progress{Epoch: epoch, Step: step, Duration: time.Nanosecond}}
	}
	for name, c := range map[string]struct {
		steps []train.StepDone
		told  bool
	}{
		"from the start":     {[]train.StepDone{step(1, 1), step(1, 2), step(2, 3), step(3, 5)}, true},
		"within an epoch":    {[]train.StepDone{step(1, 2), step(2, 3)}, false},
		"from an epoch on":   {[]train.StepDone{step(1, 2), step(2, 3), step(2, 4), step(3, 5)}, true},
		"one epoch, no more": {[]train.StepDone{step(1, 1), step(1, 2)}, false},
	} {
		g := tinyGrid(t)
		g.Arms, g.Config.Train.Stage1Epochs, g.Config.Recipe.Form = []recipe.Name{recipe.Stage1}, 4, recipe.Paper
		p, said := g.newPace(1), []string(nil)
		s := &run.Session{Observe: run.Observer{Message: func(m run.Message) { said = append(said, m.Text) }}}
		for _, o := range p.watch(s)(run.Training{}) {
			for _, e := range c.steps {
				o.Step(e)
			}
		}
		if len(said) > 1 || (len(said) == 1) != c.told ||
			c.told && !strings.HasSuffix(said[0], " for 1 run, by the time of an epoch") {
			t.Errorf("%s: %q", name, said)
		}
	}
	g := tinyGrid(t)
	p := g.newPace(1)
	p.announce(&run.Session{})
	if !p.told {
		t.Error("an estimate by whole runs is followed by one of an epoch")
	}
}

// Runs with MIL go by those without until one of them has been trained.
func TestPace_TellsMILApart(t *testing.T) {
	g := tinyGrid(t)
	g.Arms, g.MIL = []recipe.Name{recipe.Stage1}, BothMIL
	g.Config.Train.Stage1Epochs, g.Config.Recipe.Form = 1, recipe.Paper
	p := g.newPace(2)
	p.ran(false, 1, false, time.Second)
	if left, seen := p.left(); left != 3*time.Second || seen {
		t.Errorf("%v, %v", left, seen)
	}
	p.ran(true, 1, false, 9*time.Second)
	if left, seen := p.left(); left != 10*time.Second || !seen {
		t.Errorf("%v, %v", left, seen)
	}
}
