package captioner

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/captioning"
	"nmn/group"
	"nmn/group/local"
	"nmn/run"
	"nmn/train"
)

// onRanks does work of a session on each of n ranks, and returns what each has found.
func onRanks(t *testing.T, c *Config, n int, change func(rank int, c *Config),
	work func(s *Session, g group.Group) (*Outcome, error)) (outcomes []*Outcome, errs []error) {
	t.Helper()
	outcomes, errs = make([]*Outcome, n), make([]error, n)
	var all sync.WaitGroup
	for _, g := range local.New(n, time.Minute) {
		all.Go(func() {
			defer func() { g.Abort(errors.New("it has left")) }()
			own := *c
			if change != nil {
				change(g.Rank(), &own)
			}
			s, err := Open(t.Context(), own, Options{Group: g})
			if err != nil {
				errs[g.Rank()] = err
				return
			}
			outcomes[g.Rank()], errs[g.Rank()] = work(s, g)
			_, _ = g.Gather(nil) // nobody leaves before all are done
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return outcomes, errs
}

func fileNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSession_OnRanksTrainsResumesAndIsReused(t *testing.T) {
	c, temporary := sceneConfig(t), t.TempDir()
	c.Train.Optimizer, c.Train.LearningRate = train.SGD, .05
	alone, dir := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "ranks")
	s, _ := openSession(t, c)
	want, err := s.Train(t.Context(), alone)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	_, errs := onRanks(t, c, 3, nil, func(s *Session, g group.Group) (*Outcome, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.Observe.Training = func(run.Training) []captioning.Observer {
			return []captioning.Observer{{Epoch: func(captioning.EpochDone) {
				if g.Rank() == 1 {
					cancel()
				}
			}}}
		}
		return s.Train(ctx, dir)
	})
	for rank, err := range errs {
		if !errors.Is(err, run.ErrInterrupted) {
			t.Fatalf("rank %d: %v, want an interruption", rank, err)
		}
	}
	resume := func(s *Session, _ group.Group) (*Outcome, error) { return s.Resume(t.Context(), dir) }
	for _, ranks := range []int{2, 4} { // the second time all is done
		outcomes, errs := onRanks(t, c, ranks, nil, resume)
		for rank, o := range outcomes {
			if errs[rank] != nil {
				t.Fatalf("rank %d of %d: %v", rank, ranks, errs[rank])
			}
			if *o.Validation != *outcomes[0].Validation || o.Loss != outcomes[0].Loss || o.Steps != want.Steps ||
				o.Checkpoint != want.Checkpoint || math.Abs(o.Loss-want.Loss) > 1e-4*want.Loss {
				t.Errorf("rank %d of %d: %+v, want %+v", rank, ranks, o, want)
			}
		}
	}
	if got, want := fileNames(t, dir), fileNames(t, alone); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if left := fileNames(t, temporary); len(left) > 0 {
		t.Errorf("the other ranks leave %v", left)
	}
}

func TestSession_RanksMustWorkOnTheSame(t *testing.T) {
	c, dir := sceneConfig(t), filepath.Join(t.TempDir(), "run")
	work := func(s *Session, _ group.Group) (*Outcome, error) { return s.Train(t.Context(), dir) }
	for name, change := range map[string]func(rank int, c *Config){
		"settings": func(rank int, c *Config) { c.Train.Seed += uint64(rank / 2) },
		"data":     func(rank int, c *Config) { c.Data.ValidationShare += .1 * float64(rank/2) },
	} {
		_, errs := onRanks(t, c, 3, change, work)
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "rank 2") {
				t.Errorf("%s: rank %d: %v, want an error that names rank 2", name, rank, err)
			}
		}
	}
	_, errs := onRanks(t, c, 3, func(rank int, c *Config) {
		if rank == 1 {
			c.Data.Train.Features += ".lost"
		}
	}, work)
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), ".lost") {
			t.Errorf("rank %d: %v, want to hear of the file that rank 1 lacks", rank, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, run.ConfigFile)); err == nil {
		t.Error("a run was begun")
	}
}
