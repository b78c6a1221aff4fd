package appendix

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nmn/experiment"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

func TestLikelihood_IsThatOfTheNoisyLabels(t *testing.T) {
	t.Parallel()
	c, err := run.Preset(run.ScenesPreset, run.Quick)
	check(t, err)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Net.Width = 48, 0, 8, .5
	c.Train.Stage1Epochs, c.Train.Stage2Epochs, c.Recipe.Form, c.Run.Device = 1, 1, recipe.Paper, "cpu"
	g := experiment.New(c, t.TempDir())
	g.Arms, g.Chosen, g.ReplaceCaptions = []recipe.Name{recipe.Stage1, recipe.Baseline, recipe.FI, recipe.EM}, true,
		[]float64{.4}
	check(t, g.Resolve())
	s, err := run.Open(t.Context(), g.Config, run.Options{})
	check(t, err)
	defer s.Close()
	_, err = g.Run(t.Context(), s)
	check(t, err)
	for _, arm := range []recipe.Name{recipe.FI, recipe.EM} {
		dir := filepath.Join(g.Dir, "noise-40", "seed-1", string(arm))
		got, err := Likelihood(t.Context(), dir, run.ModelOptions{Run: g.Config.Run})
		check(t, err)
		if want := byHand(t, dir); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: %v, want %v", arm, got, want)
		}
	}
	baseline := filepath.Join(g.Dir, "noise-40", "seed-1", "baseline")
	_, err = Likelihood(t.Context(), baseline, run.ModelOptions{Run: g.Config.Run})
	if err == nil || !strings.Contains(err.Error(), "no noise model") {
		t.Errorf("of a net without a noise model: %v", err)
	}
}

// byHand is the same from scores, rates and noisy labels.
func byHand(t *testing.T, dir string) float64 {
	t.Helper()
	c, err := run.ReadConfig(dir)
	check(t, err)
	s, err := run.Open(t.Context(), *c, run.Options{})
	check(t, err)
	defer s.Close()
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), s.Backend)
	check(t, err)
	defer net.Close()
	l := s.Config.Loader()
	l.BatchSize = 16
	scores, err := train.Score(t.Context(), net, s.Data.Train, l)
	check(t, err)
	z, k := s.Data.Train.Labels.Uint8s(), s.Data.Train.Vocabulary.Len()
	sum := 0.0
	for i, o := range scores.Logits.Float32s() {
		sum += surprise(float64(o), z[scores.Index[i/k]*k+i%k], scores.Rates.Q01[i%k], scores.Rates.Q10[i%k])
	}
	return sum / float64(len(scores.Index))
}
