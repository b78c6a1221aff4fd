package train

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func offered(k *CheckpointStore[Checkpoint], values ...float64) (taken []bool) {
	for i, v := range values {
		taken = append(taken, k.Offer(Best{Step: i + 1, Value: v}))
	}
	return taken
}

func TestKeeper_KeepsTheBestByDirectionAndTheEarlierOfEquals(t *testing.T) {
	higher := NewCheckpointStore(frame, CheckpointStoreOptions{Count: 1})
	if got := offered(&higher, .3, .5, .5, .2, .6); !slices.Equal(got, []bool{true, true, false, false, true}) ||
		!slices.Equal(higher.Best(), []Best{{Step: 5, Value: .6}}) {
		t.Errorf("taken %v, best %+v", got, higher.Best())
	}
	lower := NewCheckpointStore(frame, CheckpointStoreOptions{Count: 1, Lower: true})
	if got := offered(&lower, .3, .5, .2, .2); !slices.Equal(got, []bool{true, false, true, false}) ||
		lower.best[0].Step != 3 {
		t.Errorf("taken %v, best %+v", got, lower.best)
	}
	none := CheckpointStore[Checkpoint]{}
	if got := offered(&none, .3); got[0] {
		t.Error("kept one of none")
	}
}

// validating is a run that validates and keeps the best.
func validating(t *testing.T) rig {
	t.Helper()
	r := newRig()
	r.validation, r.directory = true, t.TempDir()
	r.config.Stage1Epochs, r.config.EvaluateEpochs, r.config.KeepBest, r.config.BestBy = 4, 1, 1, "brier"
	return r
}

func TestRun_KeepsBestAndLastOnDisk(t *testing.T) {
	r := validating(t)
	values := map[int]float64{}
	r.observers = []Observer{{Evaluated: func(e Evaluated) { values[e.Step] = e.Value }}}
	result := run(t, r.trainer(t))
	if len(values) != 4 || len(result.Best) != 1 || result.Validation == nil {
		t.Fatalf("validations %v, best %+v", values, result.Best)
	}
	least := slices.Min(slices.Collect(maps.Values(values)))
	best := result.Best[0].Step
	if values[best] != least {
		t.Errorf("best %+v of %v", result.Best, values)
	}
	want := []string{"best.safetensors", "last.safetensors", "previous.safetensors"}
	if got := names(t, r.directory); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	for name, step := range map[string]int{BestName: best, LastName: result.Step} {
		isOfStep(t, filepath.Join(r.directory, name), step)
	}
}

// A process may die between the checkpoint and its name, or in the middle of a validation.
func TestResume_RestoresABestFileThatWasNotNamedYet(t *testing.T) {
	r := validating(t)
	result := run(t, r.trainer(t))
	newest := result.Best[0]
	if newest.Step != result.Step {
		t.Skipf("the last step is not the best: %+v", result.Best)
	}
	best := filepath.Join(r.directory, BestName)
	check(t, os.Remove(best))
	trainer := r.resumed(t)
	run(t, trainer)
	isOfStep(t, best, newest.Step)
}

func TestResume_KilledDuringValidationValidatesAgain(t *testing.T) {
	r := validating(t)
	want := run(t, r.trainer(t))
	r.directory = t.TempDir()
	interrupted(t, r, 5, 1) // the last step of the first epoch
	evaluations := 0
	r.observers = []Observer{{Evaluated: func(Evaluated) { evaluations++ }}}
	trainer := r.resumed(t)
	got := run(t, trainer)
	if evaluations != 4 || !slices.Equal(got.Best, want.Best) {
		t.Errorf("%d validations, best %+v, unbroken %+v", evaluations, got.Best, want.Best)
	}
}

// A validation that Keep failed to keep is repeated after a resume, even if the process is asked to end at
// that moment and saves its state.
func TestRun_ValidationThatIsNotKeptIsMadeAgain(t *testing.T) {
	t.Parallel()
	r := validating(t)
	want := run(t, r.trainer(t))
	for _, interrupted := range []bool{false, true} {
		r.directory = t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		full, kept := errors.New("full"), []int{}
		o := r.options(t)
		o.Keep = func(e *Evaluated) error {
			if len(kept) < 1 {
				kept = append(kept, e.Step)
				return nil
			}
			if interrupted {
				cancel()
			}
			return full
		}
		trainer, err := New(o)
		check(t, err)
		if _, err := trainer.Run(ctx); !errors.Is(err, full) {
			t.Fatalf("interrupted %v: %v", interrupted, err)
		}
		check(t, trainer.Close())
		o = r.options(t)
		o.Keep = func(e *Evaluated) error { kept = append(kept, e.Step); return nil }
		trainer, err = New(o)
		check(t, err)
		check(t, trainer.Resume(filepath.Join(r.directory, LastName)))
		got := run(t, trainer)
		check(t, trainer.Close())
		if !slices.Equal(kept, []int{5, 10, 15, 20}) || !slices.Equal(got.Best, want.Best) {
			t.Errorf("interrupted %v: kept %v, best %+v, unbroken %+v", interrupted, kept, got.Best, want.Best)
		}
	}
}

func TestRun_NewBestIsSavedBeforeTheNextStep(t *testing.T) {
	r := validating(t)
	r.config.EvaluateEpochs, r.config.EvaluateSteps, r.config.MaxSteps = 0, 3, 4
	best, last := filepath.Join(r.directory, BestName), filepath.Join(r.directory, LastName)
	r.observers = []Observer{{Step: func(e StepDone) {
		for _, path := range []string{best, last} {
			c, err := ReadCheckpoint(path)
			if e.Step == 4 && (err != nil || c.Position.Step != 3 || len(c.Best) != 1 || c.Best[0].Step != 3) {
				t.Errorf("%s at step 4: %+v, %v", path, c, err)
			}
		}
	}}}
	run(t, r.trainer(t))
}

// A long validation reports each batch, so that a watchdog sees that training is alive.
func TestRun_ReportsEachBatchOfAValidation(t *testing.T) {
	r := validating(t)
	o := r.options(t)
	bags, batches, validations := 0, 0, 0
	o.Observers = []Observer{{
		Scored: func(n int) { bags, batches = bags+n, batches+1 },
		Evaluated: func(Evaluated) {
			validations++
			if bags != o.Validation.Len() || batches < 2 {
				t.Errorf("validation %d: %d bags in %d batches were reported, of %d", validations, bags, batches,
					o.Validation.Len())
			}
			bags, batches = 0, 0
		},
	}}
	run(t, newTrainer(t, o))
	if validations == 0 {
		t.Error("nothing was validated")
	}
}
