package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/ranks"
	"nmn/ranks/local/localtest"
)

// unreadable are scenes with one that gives an error unrelated to its picture.
type unreadable struct {
	loader.Source
	err error
}

func (s unreadable) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	if bag == 17 {
		return s.err
	}
	return s.Source.Read(ctx, bag, frame, p)
}

func TestRanks_AnErrorOfReadingIsOneOfAll(t *testing.T) {
	broken := errors.New("the file system is gone")
	r := newRig()
	r.source = func(s loader.Source) loader.Source { return unreadable{s, broken} }
	own, told := 0, 0
	for rank, out := range learnOn(t, r, 3, nil) {
		var lost *ranks.LostError
		switch {
		case errors.Is(out.err, broken):
			own++
		case errors.As(out.err, &lost) && strings.Contains(out.err.Error(), broken.Error()):
			told++
		default:
			t.Errorf("rank %d: %v", rank, out.err)
		}
	}
	if own != 1 || told != 2 {
		t.Errorf("%d ranks have the error, %d received it", own, told)
	}
}

// Bags that cannot be read are counted over all ranks, each once, and too many end the stage on all.
func TestRanks_BadSamplesCountOnAllTogether(t *testing.T) {
	r := newRig()
	r.source = func(s loader.Source) loader.Source { return broken{s} }
	r.bags, r.badAllowed = 40, 6
	var epochs [][]int
	watch := func(rank int, own *rig) {
		own.observers = append(own.observers, Observer{Epoch: func(e EpochDone) {
			epochs[rank] = append(epochs[rank], e.BadSamples)
		}})
	}
	for _, size := range []int{1, 3} {
		epochs = make([][]int, size)
		for rank, out := range learnOn(t, r, size, watch) {
			check(t, out.err)
			if !slices.Equal(epochs[rank], []int{6, 6}) {
				t.Errorf("%d ranks: rank %d counts %v", size, rank, epochs[rank])
			}
		}
	}
	r.badAllowed = 5
	for rank, out := range learnOn(t, r, 3, nil) {
		if !errors.Is(out.err, loader.ErrCorrupt) || !strings.Contains(out.err.Error(), "more than the 5") {
			t.Errorf("rank %d: %v", rank, out.err)
		}
	}
}

// A bag that one rank could not read is reported by name on all ranks.
func TestRanks_BadSamplesAreNamedOnAll(t *testing.T) {
	r := newRig()
	r.source = func(s loader.Source) loader.Source { return broken{s} }
	r.bags, r.badAllowed, r.config.MaxSteps = 40, 6, 5
	found := make([][]string, 3)
	for _, out := range learnOn(t, r, 3, func(rank int, own *rig) {
		own.observers = append(own.observers, Observer{Bad: func(b BadSamples) {
			for _, sample := range b.New {
				found[rank] = append(found[rank], sample.ID+": "+sample.Err.Error())
			}
			if b.Count != len(found[rank]) {
				t.Errorf("%d are counted, %d reported", b.Count, len(found[rank]))
			}
		}})
	}) {
		check(t, out.err)
	}
	if len(found[0]) != 6 || !reflect.DeepEqual(found[0], found[1]) || !reflect.DeepEqual(found[0], found[2]) {
		t.Errorf("%q", found)
	}
}

// A loss that is not finite on one rank ends the stage on all before anything is changed, and names its bags.
func TestRanks_NonFiniteNamesTheBagsOfTheRank(t *testing.T) {
	rows := rowsOf{{1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {float32(math.MaxFloat32), 0}}
	config := newRig().config
	config.MaxSteps, config.BatchSize = 1, 6
	all := make([]error, 3)
	localtest.Each(3, func(g ranks.Group) {
		net := noisy(t, model.NoNoise, 2, 3)
		for _, p := range net.Params() {
			if strings.HasSuffix(p.Name, "weight") {
				values := make([]float32, p.W.Len())
				for i := range values {
					values[i] = 1e3
				}
				check(t, net.SetValues(p, values))
			}
		}
		trainer := newTrainer(t, Options{Config: config, Stage: 1, Net: net, Data: rowsSet(t, rows, "a", "b", "c"),
			Loader: loader.DefaultConfig(), Group: g})
		before := weights(t, net)
		_, all[g.Rank()] = trainer.Run(t.Context())
		if !reflect.DeepEqual(weights(t, net), before) {
			t.Errorf("rank %d: the step changed parameters", g.Rank())
		}
		check(t, expect.ErrorOf(g.Gather(nil)))
	})
	var first *NonFiniteError
	for rank, err := range all {
		var broken *NonFiniteError
		if !errors.As(err, &broken) {
			t.Fatalf("rank %d: %v", rank, err)
		}
		if first == nil {
			first = broken
		}
		if len(broken.IDs) < 1 || len(broken.IDs) > 3 || !slices.Equal(broken.IDs, first.IDs) {
			t.Errorf("rank %d names the bags %q, rank 0 %q", rank, broken.IDs, first.IDs)
		}
	}
}

// Weights that differ at the start are refused.
func TestRanks_StartWithTheSameWeights(t *testing.T) {
	errs := make([]error, 2)
	localtest.Each(2, func(g ranks.Group) {
		r := newRig()
		r.group = g
		trainer := r.trainer(t)
		if p := trainer.Net.Params()[0]; g.Rank() == 1 {
			check(t, trainer.Net.SetValues(p, make([]float32, p.FileLen())))
		}
		_, errs[g.Rank()] = trainer.Run(t.Context())
	})
	for rank, err := range errs {
		t.Run(fmt.Sprint("rank ", rank), func(t *testing.T) { expect.Refusal(t, err, "rank 1", errDrifted) })
	}
}

// Weights that part on the way are found when a checkpoint is written, which is then not written.
func TestRanks_ThatDriftApartAreFound(t *testing.T) {
	r := newRig()
	r.config.CheckpointSteps = 3
	folder := t.TempDir()
	all := make([]error, 3)
	localtest.Each(3, func(g ranks.Group) {
		own := r
		own.group, own.directory = g, folder
		var trainer *Trainer
		own.observers = []Observer{{Step: func(e StepDone) {
			if g.Rank() == 2 && e.Step == 2 {
				p := trainer.Net.Params()[0]
				values, err := trainer.Net.Values(p)
				check(t, err)
				values[3] = math.Nextafter32(values[3], 1)
				check(t, trainer.Net.SetValues(p, values))
			}
		}}}
		trainer = own.trainer(t)
		_, all[g.Rank()] = trainer.Run(t.Context())
	})
	for rank, err := range all {
		t.Run(fmt.Sprint("rank ", rank), func(t *testing.T) { expect.Refusal(t, err, "rank 2", errDrifted) })
	}
	if durable.Exists(filepath.Join(folder, LastName)) {
		t.Error("a checkpoint was written")
	}
}

// A full disk of rank 0 concerns only rank 0 while the stage runs: it tries again, and all continue. Another
// error of writing ends the stage on all.
func TestRanks_AFullDiskOfTheFirst(t *testing.T) {
	for _, c := range []struct {
		err  error
		ends bool
	}{{syscall.ENOSPC, false}, {syscall.EACCES, true}} {
		r := newRig()
		r.config.CheckpointSteps, r.config.MaxSteps = 2, 6
		all, unsaved := make([]error, 3), make([]int, 3)
		folder := t.TempDir()
		localtest.Each(3, func(g ranks.Group) {
			own := r
			own.group, own.directory = g, folder
			own.observers = []Observer{{Unsaved: func(Unsaved) { unsaved[g.Rank()]++ }}}
			trainer := own.trainer(t)
			if g.Rank() == 0 {
				replace := trainer.keeper.Replace
				trainer.keeper.Replace = func(path, previous string, about *Checkpoint,
					tensors []safetensors.Tensor) (int64, error) {
					if about.Position.Step < 6 {
						return 0, c.err
					}
					return replace(path, previous, about, tensors)
				}
			}
			_, all[g.Rank()] = trainer.Run(t.Context())
		})
		for rank, err := range all {
			var lost *ranks.LostError
			if c.ends != (err != nil) || c.ends && rank > 0 && (!errors.As(err, &lost) || lost.Rank != 0) {
				t.Errorf("%v of rank 0: rank %d ends with %v", c.err, rank, err)
			}
			if want := !c.ends && rank == 0; (unsaved[rank] > 0) != want {
				t.Errorf("%v of rank 0: reported to rank %d %d times", c.err, rank, unsaved[rank])
			}
		}
		if c.ends {
			continue
		}
		isOfStep(t, filepath.Join(folder, LastName), 6)
	}
}

// Ranks with other data notice before they learn from it.
func TestRanks_WithOtherBatchesAreRefused(t *testing.T) {
	r := newRig()
	for rank, out := range learnOn(t, r, 2, func(rank int, own *rig) {
		own.bags -= 8 * rank
		own.config.MaxSteps = 12
	}) {
		if out.err == nil || !strings.Contains(out.err.Error(), "the same data and settings") {
			t.Errorf("rank %d: %v", rank, out.err)
		}
	}
}

// A step reports the number of ranks, and the images of all ranks.
func TestRanks_StepsTellOfAllRanks(t *testing.T) {
	r := newRig()
	r.bags, r.config.MaxSteps = 40, 3
	for _, out := range learnOn(t, r, 4, func(rank int, own *rig) {
		own.observers = append(own.observers, Observer{Step: func(e StepDone) {
			if e.Ranks != 4 || e.Bags != 8 || e.Images != 8 || e.MostWait < e.Wait-1 || e.Slowest < 0 || e.Slowest > 3 ||
				e.MostDataWait < e.DataWait-1 || e.Wait <= 0 {
				t.Errorf("rank %d: %+v", rank, e)
			}
		}})
	}) {
		check(t, out.err)
	}
}

// A rank that dies ends the others with its name.
func TestRanks_EndWithOneThatIsLost(t *testing.T) {
	killed := errors.New("it was killed")
	all := make([]error, 3)
	localtest.Each(3, func(g ranks.Group) {
		r := newRig()
		r.group = g
		r.observers = []Observer{{Step: func(e StepDone) {
			if g.Rank() == 1 && e.Step == 3 {
				g.Abort(killed)
			}
		}}}
		_, all[g.Rank()] = r.trainer(t).Run(t.Context())
	})
	for rank, err := range all {
		var lost *ranks.LostError
		if !errors.As(err, &lost) || lost.Rank != 1 || !errors.Is(err, killed) || errors.Is(err, ErrInterrupted) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
