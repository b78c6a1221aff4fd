package train

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"nmn/internal/expect"
)

// online is a rig whose first epoch has 5 batches. The last two are scored.
func online(t *testing.T, threads int, got **Scores, observers ...Observer) Options {
	t.Helper()
	r := newRig()
	r.threads, r.workers, r.dropout, r.observers = threads, threads, .3, observers
	r.directory = t.TempDir()
	r.config.CheckpointSteps = 1
	o := r.options(t)
	o.Online = func(_ context.Context, s *Scores) error { *got = s; return nil }
	return o
}

func TestOnline_ScoresBagsBeforeTheyAreLearned(t *testing.T) {
	// The net as it was before the first of the scored steps, from a run that ends there.
	r := newRig()
	r.dropout, r.config.MaxSteps = .3, 3
	before := r.trainer(t)
	run(t, before)
	all, err := Score(t.Context(), before.Net, before.Data, before.loaderConfig())
	expect.OK(t, err)

	var got *Scores
	o := online(t, 1, &got)
	run(t, newTrainer(t, o))
	if got == nil || len(got.Index) != 16 {
		t.Fatalf("scores %+v, want 16 of 40 bags: the 2 last of 5 batches", got)
	}
	k := o.Net.Config().Classes
	seen := map[int]bool{}
	for i, bag := range got.Index {
		if seen[bag] {
			t.Errorf("bag %d is scored twice", bag)
		}
		seen[bag] = true
		equal := reflect.DeepEqual(got.Logits.Float32s()[i*k:(i+1)*k], all.Logits.Float32s()[bag*k:(bag+1)*k])
		if first := i < 8; equal != first {
			t.Errorf("bag %d at place %d: equal to the scores of the net after 3 steps: %t, want %t",
				bag, i, equal, first)
		}
	}
}

// Scoring does not change what is learned. Neither an interruption nor the number of threads changes the
// scores.
func TestOnline_EqualWhateverHappens(t *testing.T) {
	t.Parallel()
	plain := newRig()
	plain.dropout = .3
	alone := plain.trainer(t)
	run(t, alone)
	var want *Scores
	whole := newTrainer(t, online(t, 1, &want))
	run(t, whole)
	if !reflect.DeepEqual(weights(t, whole.Net), weights(t, alone.Net)) {
		t.Error("a run that scores learns something else")
	}
	for _, stop := range []int{3, 4, 5, 6} {
		ctx, cancel := context.WithCancel(t.Context())
		var got *Scores
		o := online(t, 2, &got, Observer{Step: func(e StepDone) {
			if e.Step == stop {
				cancel()
			}
		}})
		if _, err := newTrainer(t, o).Run(ctx); !errors.Is(err, ErrInterrupted) {
			t.Fatalf("stopped at step %d: %v", stop, err)
		}
		unobserved := o
		unobserved.Observers = nil
		next := newTrainer(t, unobserved)
		check(t, next.Resume(filepath.Join(o.Directory, LastName)))
		run(t, next)
		if got == nil || !reflect.DeepEqual(got.Index, want.Index) ||
			!reflect.DeepEqual(got.Logits.Float32s(), want.Logits.Float32s()) {
			t.Errorf("stopped at step %d: the scores differ", stop)
		}
		if !reflect.DeepEqual(weights(t, next.Net), weights(t, alone.Net)) {
			t.Errorf("stopped at step %d: the net differs", stop)
		}
	}
}

func TestOnline_RefusesACheckpointThatHasMissedThem(t *testing.T) {
	var got *Scores
	o := online(t, 1, &got)
	o.Online, o.Config.MaxSteps = nil, 4
	run(t, newTrainer(t, o))
	o.Online, o.Config.MaxSteps = func(context.Context, *Scores) error { return nil }, 0
	expect.Refusal(t, newTrainer(t, o).Resume(filepath.Join(o.Directory, LastName)), "", ErrOtherRun)
}

func TestOnline_KeepsSoManyScoresOfLargeSets(t *testing.T) {
	for _, c := range []struct{ batches, scores, want int }{
		{5, 8 * 36, 3},
		{82783/32 + 1, 32 * 1000, 1294}, // COCO: half of the epoch
		{1_000_000, 1087, 1_000_000 - 61737},
		{1_000_000, 2 * mostOnline, 999_999}, // at least a batch
	} {
		if got := firstScored(c.batches, c.scores); got != c.want {
			t.Errorf("%d batches of %d scores: scored from batch %d, want %d", c.batches, c.scores, got, c.want)
		}
	}
}
