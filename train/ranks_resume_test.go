package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/model"
	"nmn/ranks"
	"nmn/ranks/local/localtest"
)

// rankRun is a run of a rig on several ranks.
type rankRun struct {
	rig
	change func(rank int, r *rig) // of one rank; nil for none
	resume bool
	stop   int // after this step one rank is interrupted; 0 for none
	// stopped is the rank that is interrupted.
	stopped int
	killed  bool // it does not end, it is gone
}

func (r rankRun) on(t *testing.T, n int) []outcome {
	t.Helper()
	all := make([]outcome, n)
	localtest.Each(n, func(g ranks.Group) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		own, out := r.rig, &all[g.Rank()]
		own.group = g
		own.observers = append(slices.Clone(r.observers), record(&out.losses))
		if r.stop > 0 && g.Rank() == r.stopped {
			end := cancel
			if r.killed {
				end = func() { g.Abort(errKilled) }
			}
			own.observers = append(own.observers, interruptAt(r.stop, end))
		}
		if r.change != nil {
			r.change(g.Rank(), &own)
		}
		trainer := own.trainer(t)
		if r.resume {
			if out.err = trainer.Resume(filepath.Join(own.directory, LastName)); out.err != nil {
				return
			}
		}
		result, err := trainer.Run(ctx)
		out.position, out.err, out.graphs = result.Position, err, trainer.updater.graphs.Graphs()
		out.weights, out.moments = weights(t, trainer.Net), momentsOf(t, trainer)
		if _, err := g.Gather(nil); err != nil && !errors.Is(err, errKilled) {
			t.Errorf("rank %d at the end: %v", g.Rank(), err)
		}
	})
	return all
}

// errKilled is the error that other ranks receive when a rank is gone.
var errKilled = errors.New("it was killed")

// Ranks are killed one after the other at a step, twenty times. Each time the job continues from the last
// checkpoint. It ends bit for bit like an undisturbed job.
func TestRanks_KilledTwentyTimesEqualUnbroken(t *testing.T) {
	t.Parallel()
	skipRanks(t)
	r := newRig()
	r.bags, r.dropout, r.config.Flip, r.config.Accumulate = 37, .3, true, 2
	r.config.Stage1Epochs, r.config.MaxSteps, r.config.CheckpointSteps = 20, 40, 2
	r.directory = t.TempDir()
	want := rankRun{rig: r}.on(t, 3)[0]
	check(t, want.err)
	r.directory = t.TempDir()
	stream, at := rng.New(3, 20), 0
	kills := 20
	if testing.Short() {
		kills = 5
	}
	for kill := range kills {
		job := rankRun{rig: r, resume: at > 0, stop: at + 1 + stream.Intn(4), stopped: stream.Intn(3), killed: true}
		for rank, out := range job.on(t, 3) {
			var lost *ranks.LostError
			if !errors.As(out.err, &lost) || lost.Rank != job.stopped || errors.Is(out.err, ErrInterrupted) {
				t.Fatalf("kill %d of rank %d at step %d: rank %d ends with %v", kill, job.stopped, job.stop, rank, out.err)
			}
		}
		if c, err := ReadCheckpoint(filepath.Join(r.directory, LastName)); err == nil {
			at = c.Position.Step
		}
		at = min(at, 34) // so that there is something left to be killed
	}
	got := rankRun{rig: r, resume: true}.on(t, 3)[0]
	check(t, got.err)
	if !maps.EqualFunc(got.weights, want.weights, slices.Equal) || !reflect.DeepEqual(got.moments, want.moments) ||
		got.position != want.position {
		t.Errorf("weights, moments or position %+v differ from the unbroken run's, %+v", got.position, want.position)
	}
}

// A stage that is interrupted on one of n ranks, at any step, continues with n ranks or another number. It
// also does so within an epoch, and with equal numbers.
func TestRanks_ResumeWithAnyNumberOfRanks(t *testing.T) {
	t.Parallel()
	skipRanks(t)
	settings := map[string]func(*rig){
		"clips, nmn-fd, dropout, flips, accumulation": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.mil, r.noise, r.dropout, r.config.Flip, r.config.Accumulate = true, model.FeatureDependent, .3, true, 2
		},
		"averages, validation, the best": func(r *rig) {
			r.config.Optimizer, r.config.EMA, r.validation = AdamW, .9, true
			r.config.EvaluateSteps, r.config.KeepBest, r.config.CheckpointSteps = 3, 1, 4
		},
		"all augmentations": func(r *rig) { r.config.Augment, r.config.Flip = allAugmentations(), true },
	}
	pairs := [][2]int{{4, 2}, {3, 3}, {2, 1}, {1, 4}}
	if testing.Short() {
		pairs = pairs[:1]
	}
	for name, change := range settings {
		for _, pair := range pairs {
			t.Run(fmt.Sprintf("%s, %d ranks, then %d", name, pair[0], pair[1]), func(t *testing.T) {
				r := newRig()
				r.bags = 37
				change(&r)
				r.directory = t.TempDir()
				unbroken := rankRun{rig: r}.on(t, pair[0])[0]
				check(t, unbroken.err)
				stream := rng.New(11, pair[0], len(name))
				at := 1 + stream.Intn(unbroken.position.Step-1)
				r.directory = t.TempDir()
				broken := rankRun{rig: r, stop: at, stopped: pair[0] - 1}.on(t, pair[0])
				for rank, out := range broken {
					if !errors.Is(out.err, ErrInterrupted) || out.position.Step != at {
						t.Fatalf("rank %d stopped at step %d, want %d: %v", rank, out.position.Step, at, out.err)
					}
				}
				for rank, got := range (rankRun{rig: r, resume: true}).on(t, pair[1]) {
					check(t, got.err)
					got.losses = append(slices.Clone(broken[0].losses), got.losses...)
					if pair[0] == pair[1] {
						sameOnAll(t, unbroken, got, fmt.Sprintf("the unbroken run and rank %d of the resumed one", rank))
					}
					if most, of := distance(unbroken.weights, got.weights); !(most <= farApart) {
						t.Errorf("rank %d: %s is apart by %.3g of its norm after step %d", rank, of, most, at)
					}
					samePosition(t, unbroken, got)
				}
			})
		}
	}
}

// Whichever ranks are interrupted, and for whatever reason, all stop at the same step and report it.
func TestRanks_AnInterruptionOfOneIsOneOfAll(t *testing.T) {
	for stopped := range 3 {
		r := newRig()
		r.directory = t.TempDir()
		for rank, out := range (rankRun{rig: r, stop: 3, stopped: stopped}).on(t, 3) {
			var lost *ranks.LostError
			if !errors.Is(out.err, ErrInterrupted) || !errors.Is(out.err, context.Canceled) {
				t.Errorf("rank %d: %v", rank, out.err)
			}
			if errors.As(out.err, &lost) != (rank != stopped) || lost != nil && lost.Rank != stopped {
				t.Errorf("rank %d, interrupted %d: %v", rank, stopped, out.err)
			}
		}
		isOfStep(t, filepath.Join(r.directory, LastName), 3)
	}
}

// The clock of rank 0 decides when a checkpoint is due by time.
func TestRanks_SaveByTheClockOfTheFirst(t *testing.T) {
	r := newRig()
	r.config.CheckpointMinutes, r.config.MaxSteps, r.directory = 2.5, 9, t.TempDir()
	saved := make([][]int, 3)
	all := learnOn(t, r, 3, func(rank int, own *rig) {
		if rank == 0 {
			own.clock = minuteClock()
		}
		own.observers = append(own.observers, Observer{Saved: func(e Saved) { saved[rank] = append(saved[rank], e.Step) }})
	})
	for rank, out := range all {
		check(t, out.err)
		if wrote := len(saved[rank]) >= 4; wrote != (rank == 0) {
			t.Errorf("rank %d saved at the steps %v", rank, saved[rank])
		}
	}
	if c, err := ReadCheckpoint(filepath.Join(r.directory, LastName)); err != nil || c.Position != all[0].position {
		t.Errorf("the checkpoint has %+v: %v", c, err)
	}
}

// With patience all ranks end at the same step and go back to the best weights.
func TestRanks_PatienceGoesBackToTheBestOfTheFirst(t *testing.T) {
	r := overfitting(t)
	alone := learnOn(t, r, 1, nil)[0]
	check(t, alone.err)
	r.directory = t.TempDir()
	for rank, got := range (rankRun{rig: r}).on(t, 3) {
		check(t, got.err)
		if got.position.Step != alone.position.Step {
			t.Errorf("rank %d ends at step %d, one process at %d", rank, got.position.Step, alone.position.Step)
		}
		if most, of := distance(alone.weights, got.weights); !(most <= 1e-4) {
			t.Errorf("rank %d: %s is apart by %.3g of its norm", rank, of, most)
		}
	}
}

// Checkpoints have the same form for any number of ranks, and do not record that number.
func TestRanks_CheckpointsDoNotSayHowManyThereWere(t *testing.T) {
	var folders []string
	for _, pair := range []int{1, 3} {
		r := newRig()
		r.directory, r.config.MaxSteps = t.TempDir(), 4
		folders = append(folders, r.directory)
		for _, out := range (rankRun{rig: r}).on(t, pair) {
			check(t, out.err)
		}
	}
	var about [2]*Checkpoint
	for i, folder := range folders {
		var err error
		about[i], err = ReadCheckpoint(filepath.Join(folder, LastName))
		check(t, err)
		about[i].Position.Loss, about[i].Position.LossSum = 0, 0
	}
	if !reflect.DeepEqual(about[0], about[1]) {
		t.Errorf("%+v\nwant\n%+v", about[1], about[0])
	}
}
