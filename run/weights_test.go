package run

import (
	"path/filepath"
	"strings"
	"testing"

	"nmn/recipe"
	"nmn/train"
)

// tiny is a configuration of stage 1 on a few scenes, whose training takes a moment.
func tiny(t *testing.T) Config {
	t.Helper()
	c := value(Preset(ScenesPreset, Quick))(t)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 24, 0, 8
	c.Net.Width, c.Train.Stage1Epochs, c.Train.Stage2Epochs, c.Run.Device = .5, 1, 1, "cpu"
	c.Arm = recipe.Stage1
	return c
}

// opened opens a session that ends with the test.
func opened(t *testing.T, c Config, o Options) *Session {
	t.Helper()
	s := value(Open(t.Context(), c, o))(t)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// learn trains the run of a session, or goes on with it.
func learn(t *testing.T, s *Session, dir string) {
	t.Helper()
	_, err := s.Train(t.Context(), dir)
	must(t, err)
}

// Every net of an experiment starts from the same file: what was taken from it is shown for the first seed alone.
func TestLoadWeights_AreShownOnceOverSeeds(t *testing.T) {
	c, dir := tiny(t), t.TempDir()
	learn(t, opened(t, c, Options{}), dir)
	c.Net.Weights = filepath.Join(dir, train.LastName)
	shown := 0
	all := opened(t, c, Options{Observer: Observer{Message: func(m Message) {
		if strings.HasPrefix(m.Text, "weights ") {
			shown++
		}
	}}})
	arms := value(c.PlannedArms())(t)
	for _, seed := range []uint64{1, 2} {
		c.Train.Seed = seed
		s := value(all.With(t.Context(), c))(t)
		nets := s.nets()
		net := value(nets.fresh(arms[0]))(t)
		must(t, net.Close())
	}
	if shown != 1 {
		t.Errorf("the table of weights is shown %d times for 2 seeds, want once", shown)
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value is the result of a call that must not fail: value(f())(t).
func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}
