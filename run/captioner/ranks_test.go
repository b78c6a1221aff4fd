package captioner

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioning"
	"nmn/group"
	"nmn/group/local/localtest"
	"nmn/run"
	"nmn/train"
)

// onRanks does work of a session on each of n ranks, and returns what each has found.
func onRanks(t *testing.T, c *Config, n int, change func(rank int, c *Config),
	work func(s *Session, g group.Group) (*Outcome, error)) (outcomes []*Outcome, errs []error) {
	t.Helper()
	outcomes = make([]*Outcome, n)
	errs = localtest.Run(n, func(g group.Group) error {
		own := *c
		if change != nil {
			change(g.Rank(), &own)
		}
		s, err := Open(t.Context(), own, Options{Group: g})
		if err != nil {
			return err
		}
		outcomes[g.Rank()], err = work(s, g)
		_, _ = g.Gather(nil) // nobody leaves before all are done
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return err
	})
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
	features, err := os.ReadFile(c.Data.Train.Features)
	if err != nil {
		t.Fatal(err)
	}
	features[len(features)/3] ^= 1 // of a clip that is neither the first, the one in the middle, nor the last
	other := filepath.Join(t.TempDir(), filepath.Base(c.Data.Train.Features))
	if err := os.WriteFile(other, features, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(rank int, c *Config){
		"settings": func(rank int, c *Config) { c.Train.Seed += uint64(rank / 2) },
		"data":     func(rank int, c *Config) { c.Data.ValidationShare += .1 * float64(rank/2) },
		"file of data.train.features": func(rank int, c *Config) {
			if rank == 2 {
				c.Data.Train.Features = other
			}
		},
	} {
		_, errs := onRanks(t, c, 3, change, work)
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "rank 2") || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: rank %d: %v, want an error that names it, and rank 2", name, rank, err)
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
	if _, err := os.Stat(dir); err == nil {
		t.Error("a run folder was made")
	}
}

// The others have no sight of the run folder: they hear its configuration from rank 0.
func TestReopen_OnRanksReadsTheFolderOfRank0(t *testing.T) {
	c, dir := sceneConfig(t), filepath.Join(t.TempDir(), "run")
	c.Gradients = run.GradientsBF16
	_, errs := onRanks(t, c, 2, nil, func(s *Session, _ group.Group) (*Outcome, error) { return s.Train(t.Context(), dir) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	reopen := func(dirs ...string) []error {
		return localtest.Run(len(dirs), func(g group.Group) error {
			s, err := Reopen(t.Context(), dirs[g.Rank()], Options{Group: g})
			if err != nil {
				return err
			}
			if s.Config.Train.Seed != c.Train.Seed || s.Config.Gradients != run.GradientsBF16 {
				t.Errorf("rank %d: configuration %+v", g.Rank(), s.Config)
			}
			_, err = s.Resume(t.Context(), dirs[g.Rank()])
			return errors.Join(err, s.Close())
		})
	}
	if err := errors.Join(reopen(dir, filepath.Join(t.TempDir(), "nowhere"))...); err != nil {
		t.Error(err)
	}
	for rank, err := range reopen(filepath.Join(t.TempDir(), "nowhere"), dir) {
		if !errors.Is(err, fs.ErrNotExist) && (rank == 0 || err == nil || !strings.Contains(err.Error(), "rank 0")) {
			t.Errorf("rank %d, without the folder of rank 0: %v", rank, err)
		}
	}
}

// Gradients that travel in bfloat16 are rounded, which is another run; a single process has nothing to send.
func TestSession_GradientsInBFloat16(t *testing.T) {
	c := sceneConfig(t)
	c.Train.Optimizer, c.Train.LearningRate = train.SGD, .05
	losses := map[string]float64{}
	folders := map[string]string{}
	for _, precision := range []string{"", run.GradientsFP32, run.GradientsBF16} {
		dir := filepath.Join(t.TempDir(), "run")
		outcomes, errs := onRanks(t, c, 2, func(_ int, c *Config) { c.Gradients = precision },
			func(s *Session, _ group.Group) (*Outcome, error) { return s.Train(t.Context(), dir) })
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		losses[precision], folders[precision] = outcomes[0].Loss, dir
	}
	full, half := losses[run.GradientsFP32], losses[run.GradientsBF16]
	if full != losses[""] || half == full || math.Abs(half-full) > .02*full {
		t.Errorf("losses %v", losses)
	}
	c.Gradients = run.GradientsFP32 // what runs say nothing of
	s, _ := openSession(t, c)
	if _, reused, err := s.Run(t.Context(), folders[""]); err != nil || !reused {
		t.Errorf("with fp32 said: reused %t (%v)", reused, err)
	}
	if _, _, err := s.Run(t.Context(), folders[run.GradientsBF16]); err == nil ||
		!strings.Contains(err.Error(), "its gradients is bf16, this one's fp32") {
		t.Errorf("another precision: %v", err)
	}
	c.Gradients = "fp8"
	if err := c.Validate(); err == nil {
		t.Error("gradients in fp8 are accepted")
	}
}
