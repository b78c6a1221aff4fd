package captioner

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"nmn/format/safetensors"
	"nmn/train"
)

// late makes the clock of a rig go on by a minute whenever it is looked at: a checkpoint is due at every step.
func late(o Options) Options {
	var now time.Time
	o.Clock = func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
	o.Config.CheckpointMinutes = 1
	return o
}

func newTrainer(t *testing.T, o Options) *Trainer {
	t.Helper()
	trainer, err := New(o)
	check(t, err)
	t.Cleanup(func() { check(t, trainer.Close()) })
	return trainer
}

func TestCheckpointMinutes_EveryCheckpointOfAnEpochResumesBitForBit(t *testing.T) {
	t.Parallel()
	r := validating(t.TempDir())
	r.config.Epochs, r.config.CheckpointSteps = 4, 0
	saved := map[int]string{}
	var epochs []EpochDone
	told := func(to *[]EpochDone) Observer {
		return Observer{Epoch: func(e EpochDone) {
			e.Duration = 0
			*to = append(*to, e)
		}}
	}
	r.observers = []Observer{told(&epochs), {Saved: func(e train.Saved) {
		saved[e.Step] = t.TempDir()
		check(t, os.CopyFS(filepath.Join(saved[e.Step], "run"), os.DirFS(r.directory)))
	}}}
	unbroken := newTrainer(t, late(r.options(t)))
	run(t, unbroken)
	if len(saved) != unbroken.Position().Step {
		t.Fatalf("checkpoints of %d of %d steps", len(saved), unbroken.Position().Step)
	}
	for step, kept := range saved {
		var resumed []EpochDone
		r.directory, r.observers = filepath.Join(kept, "run"), []Observer{told(&resumed)}
		trainer := r.trainer(t)
		check(t, trainer.Resume(filepath.Join(r.directory, train.LastName)))
		run(t, trainer)
		if trainer.Position() != unbroken.Position() || trainer.best() != unbroken.best() ||
			!slices.Equal(weights(t, trainer.Net), weights(t, unbroken.Net)) {
			t.Errorf("from step %d: ended at %+v, unbroken %+v", step, trainer.Position(), unbroken.Position())
		}
		if n := len(epochs) - len(resumed); n < 0 || !slices.Equal(resumed, epochs[n:]) {
			t.Errorf("from step %d: epochs %+v of %+v", step, resumed, epochs)
		}
	}
}

func TestRun_DiskThatIsFullForAWhileCostsNothing(t *testing.T) {
	t.Parallel()
	r := validating(t.TempDir())
	r.config.Epochs = 5
	run(t, newTrainer(t, late(r.options(t))))
	want := r.directory
	for _, window := range [][2]int{{1, 4}, {4, 13}, {3, 20}} {
		r.directory = t.TempDir()
		unsaved := 0
		r.observers = []Observer{{Unsaved: func(train.Unsaved) { unsaved++ }}}
		trainer := newTrainer(t, late(r.options(t)))
		replace := trainer.replace
		trainer.replace = func(path, previous string, c *Checkpoint, tensors []safetensors.Tensor) (int64, error) {
			if step := trainer.at.Step; step >= window[0] && step < window[1] {
				return 0, syscall.ENOSPC
			}
			return replace(path, previous, c, tensors)
		}
		run(t, trainer)
		if unsaved == 0 {
			t.Errorf("full from step %d to %d: nothing was told", window[0], window[1])
		}
		for _, name := range []string{train.LastName, train.BestName} {
			a, err := os.ReadFile(filepath.Join(want, name))
			check(t, err)
			b, err := os.ReadFile(filepath.Join(r.directory, name))
			check(t, err)
			if !slices.Equal(a, b) {
				t.Errorf("full from step %d to %d: %s differs", window[0], window[1], name)
			}
		}
	}
}
