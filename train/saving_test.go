package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"nmn/format/safetensors"
	"nmn/internal/expect"
)

// minuteClock is a clock that advances by a minute whenever it is read.
func minuteClock() func() time.Time {
	var now time.Time
	return func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
}

func TestDue_ByTheClock(t *testing.T) {
	var now time.Time
	at := func(minutes float64) { now = time.Time{}.Add(time.Hour + time.Duration(minutes*float64(time.Minute))) }
	at(0)
	k := NewCheckpointStore(frame, CheckpointStoreOptions{Directory: t.TempDir(), Minutes: 15,
		Clock: func() time.Time { return now }})
	k.Replace = func(string, string, *Checkpoint, []safetensors.Tensor) (int64, error) { return 1, nil }
	for _, step := range []struct {
		minutes float64
		due     bool
	}{{0, false}, {14.9, false}, {15, true}, {20, true}, {34.9, false}, {35, true}} {
		at(step.minutes)
		if got := k.Due(); got != step.due {
			t.Errorf("after %v minutes: due %t, want %t", step.minutes, got, step.due)
		}
		if step.minutes == 20 {
			check(t, k.save(State[Checkpoint]{Position: step.minutes}, observers(nil)))
		}
	}
	k.Minutes = 0
	if at(1e6); k.Due() {
		t.Error("due although it is switched off")
	}
}

// history records the events of a training that do not depend on when it is saved.
type history struct {
	Losses []float64
	Epochs []EpochDone
	Rated  []Evaluated
	Online []float32
}

func (h *history) observer() Observer {
	return Observer{
		Step: func(e StepDone) { h.Losses = append(h.Losses, e.Loss) },
		Epoch: func(e EpochDone) {
			e.DataWait, e.Duration = 0, 0
			h.Epochs = append(h.Epochs, e)
		},
		Evaluated: func(e Evaluated) {
			h.Rated = append(h.Rated, Evaluated{Epoch: e.Epoch, Step: e.Step, Best: e.Best, Value: e.Value})
		},
	}
}

// clocked is a trainer of a rig that records its history, with online scores.
func clocked(t *testing.T, r rig, h *history) *Trainer {
	t.Helper()
	r.observers = append(slices.Clone(r.observers), h.observer())
	o := r.options(t)
	o.Online = func(_ context.Context, s *Scores) error {
		h.Online = slices.Clone(s.Logits.Float32s())
		return nil
	}
	return newTrainer(t, o)
}

// A clock that is always late saves after every step, and from each of these checkpoints the rest of the training is
// the same: sums over an epoch, online scores, the best and patience with it.
func TestCheckpointMinutes_EveryCheckpointOfAnEpochResumesBitForBit(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rig){
		"accumulation, cosine": func(r *rig) { r.config.Accumulate, r.config.Schedule = 2, Cosine },
		"patience": func(r *rig) {
			r.config.BatchSize, r.validation = 16, true
			r.config.EvaluateSteps, r.config.KeepBest, r.config.BestBy, r.config.Patience = 2, 1, "brier", 5
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.dropout, r.directory, r.clock, r.config.CheckpointMinutes = .3, t.TempDir(), minuteClock(), 1
			change(&r)
			var want history
			saved := map[int]string{} // folders as they were, by step
			r.observers = []Observer{{Saved: func(e Saved) {
				if saved[e.Step] == "" {
					saved[e.Step] = t.TempDir()
				}
				check(t, os.CopyFS(filepath.Join(saved[e.Step], fmt.Sprint(e.Epoch, len(want.Rated))),
					os.DirFS(r.directory)))
			}}}
			unbroken := clocked(t, r, &want)
			run(t, unbroken)
			if len(saved) != len(want.Losses) {
				t.Fatalf("checkpoints of %d of %d steps", len(saved), len(want.Losses))
			}
			r.observers = nil
			for step, kept := range saved {
				for _, moment := range names(t, kept) {
					var got history
					r.directory = filepath.Join(kept, moment)
					trainer := clocked(t, r, &got)
					check(t, trainer.Resume(filepath.Join(r.directory, LastName)))
					run(t, trainer)
					sameTail(t, fmt.Sprintf("from step %d", step), &got, &want, trainer, unbroken)
				}
			}
		})
	}
}

// sameTail checks that a resumed training has seen the end of a whole one and has its net.
func sameTail(t *testing.T, from string, got, want *history, resumed, unbroken *Trainer) {
	t.Helper()
	if n := len(want.Losses) - len(got.Losses); n < 0 || !slices.Equal(got.Losses, want.Losses[n:]) {
		t.Errorf("%s: losses %v of %v", from, got.Losses, want.Losses)
	}
	if n := len(want.Epochs) - len(got.Epochs); n < 0 || !reflect.DeepEqual(got.Epochs, want.Epochs[n:]) &&
		len(got.Epochs) > 0 {
		t.Errorf("%s: epochs %+v of %+v", from, got.Epochs, want.Epochs)
	}
	if n := len(want.Rated) - len(got.Rated); n < 0 || !slices.Equal(simple(got.Rated), simple(want.Rated[n:])) {
		t.Errorf("%s: validations %+v of %+v", from, got.Rated, want.Rated)
	}
	if got.Online != nil && !slices.Equal(got.Online, want.Online) {
		t.Errorf("%s: the online scores differ", from)
	}
	sameWeights(t, weights(t, resumed.Net), weights(t, unbroken.Net), "%s: the net differs", from)
	if resumed.Position() != unbroken.Position() || !slices.Equal(resumed.keeper.best, unbroken.keeper.best) {
		t.Errorf("%s: ended at %+v with %+v, unbroken %+v with %+v", from, resumed.at, resumed.keeper.best, unbroken.at,
			unbroken.keeper.best)
	}
}

func simple(all []Evaluated) (texts []string) {
	for _, e := range all {
		texts = append(texts, fmt.Sprint(e.Epoch, e.Step, e.Best, e.Value))
	}
	return texts
}

// errFull is the error of a full disk, as a failed write has it.
var errFull = &os.PathError{Op: "write", Path: "last.safetensors", Err: syscall.ENOSPC}

// crowded is a rig that validates and saves often. Its disk is full from a step until another. During that
// time the old files remain.
func crowded(t *testing.T, r rig, from, until int) (trainer *Trainer, unsaved *[]int) {
	t.Helper()
	unsaved = new([]int)
	r.directory, r.clock, r.validation = t.TempDir(), minuteClock(), true
	r.config.Stage1Epochs, r.config.CheckpointSteps, r.config.EvaluateSteps = 3, 1, 2
	r.config.BestBy = "brier"
	r.observers = []Observer{{Unsaved: func(e Unsaved) {
		*unsaved = append(*unsaved, e.Step)
		if !errors.Is(e.Err, syscall.ENOSPC) {
			t.Errorf("step %d: %v", e.Step, e.Err)
		}
	}}}
	trainer = r.trainer(t)
	replace := trainer.keeper.Replace
	trainer.keeper.Replace = func(path, previous string, c *Checkpoint, tensors []safetensors.Tensor) (int64, error) {
		if step := trainer.at.Step; step >= from && step < until {
			return 0, errFull
		}
		return replace(path, previous, c, tensors)
	}
	return trainer, unsaved
}

func TestRun_DiskThatIsFullForAWhileCostsNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: fills disks")
	}
	r := newRig()
	r.dropout = .3
	unbroken, _ := crowded(t, r, 0, 0)
	run(t, unbroken)
	for _, window := range [][2]int{{1, 4}, {3, 9}, {2, 15}, {14, 15}} {
		trainer, unsaved := crowded(t, r, window[0], window[1])
		run(t, trainer)
		if len(*unsaved) == 0 || (*unsaved)[0] != window[0] {
			t.Errorf("full from step %d to %d: reported %v", window[0], window[1], *unsaved)
		}
		if got, want := names(t, trainer.Directory), names(t, unbroken.Directory); !slices.Equal(got, want) {
			t.Errorf("full from step %d to %d: files %q, want %q", window[0], window[1], got, want)
		}
		for _, name := range names(t, unbroken.Directory) {
			want, err := os.ReadFile(filepath.Join(unbroken.Directory, name))
			check(t, err)
			got, err := os.ReadFile(filepath.Join(trainer.Directory, name))
			if name != PreviousName && (err != nil || string(got) != string(want)) {
				t.Errorf("full from step %d to %d: %s differs (%v)", window[0], window[1], name, err)
			}
		}
	}
}

// The disk has room again a moment after the last step: the training waits for it.
func TestRun_DiskThatIsFullAtTheEndGetsAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trainer, unsaved := crowded(t, newRig(), 0, 0)
		replace, last := trainer.keeper.Replace, time.Time{}
		trainer.keeper.Replace = func(path, previous string, c *Checkpoint, tensors []safetensors.Tensor) (int64, error) {
			if trainer.at.Step == 15 && last.IsZero() {
				last = time.Now()
			}
			if trainer.at.Step == 15 && time.Since(last) < 3*time.Second {
				return 0, errFull
			}
			return replace(path, previous, c, tensors)
		}
		run(t, trainer)
		if !slices.Equal(*unsaved, []int{15}) {
			t.Errorf("reported %v", *unsaved)
		}
		c, err := ReadCheckpoint(filepath.Join(trainer.Directory, LastName))
		if err != nil || c.Position.Step != 15 {
			t.Errorf("the last checkpoint is %+v, %v; want that of step 15", c, err)
		}
	})
}

func TestRun_DiskThatIsFullAtTheEndIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trainer, _ := crowded(t, newRig(), 10, 100)
		expect.Refusal(t, expect.ErrorOf(trainer.Run(t.Context())), "", syscall.ENOSPC)
		isOfStep(t, filepath.Join(trainer.Directory, LastName), 9)
	})
}

// Only a full disk may pass by itself.
func TestRun_OtherErrorsOfSavingEndIt(t *testing.T) {
	trainer, unsaved := crowded(t, newRig(), 0, 0)
	trainer.keeper.Replace = func(string, string, *Checkpoint, []safetensors.Tensor) (int64, error) {
		return 0, syscall.EACCES
	}
	if result, err := trainer.Run(t.Context()); !errors.Is(err, syscall.EACCES) || result.Step != 1 {
		t.Errorf("ended at step %d with %v", result.Step, err)
	}
	if len(*unsaved) > 0 {
		t.Errorf("reported %v", *unsaved)
	}
}

// A checkpoint that finds no room is tried again after a while, and not at every step before.
func TestTry_RestsAfterAFullDisk(t *testing.T) {
	var now time.Time
	attempts := 0
	k := NewCheckpointStore(frame, CheckpointStoreOptions{Directory: t.TempDir(), Clock: func() time.Time { return now }})
	k.Replace = func(string, string, *Checkpoint, []safetensors.Tensor) (int64, error) {
		attempts++
		return 0, errFull
	}
	for seconds := range 25 {
		now = time.Time{}.Add(time.Hour + time.Duration(seconds)*time.Second)
		if seconds == 0 || k.Due() {
			check(t, k.Try(State[Checkpoint]{Position: seconds}, observers(nil)))
		}
	}
	if attempts != 3 {
		t.Errorf("%d attempts in 25 seconds, want 3", attempts)
	}
}
