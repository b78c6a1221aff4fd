package paper

import (
	"math"
	"path/filepath"
	"testing"

	"nmn/experiment"
	"nmn/internal/expect"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

func TestNetLikelihood_IsThatOfTheNoisyLabels(t *testing.T) {
	t.Parallel()
	c := expect.Value(run.Preset(run.ScenesPreset, run.Quick))(t)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize, c.Net.Width = 48, 0, 8, .5
	c.Train.Stage1Epochs, c.Train.Stage2Epochs, c.Recipe.Form, c.Run.Device = 1, 1, recipe.Paper, "cpu"
	g := experiment.New(c, t.TempDir())
	g.Arms, g.Chosen, g.ReplaceCaptions = []recipe.Name{recipe.Stage1, recipe.Baseline, recipe.FI, recipe.EM}, true,
		[]float64{.4}
	expect.OK(t, g.Resolve())
	s := expect.Value(run.Open(t.Context(), g.Config, run.Options{}))(t)
	defer s.Close()
	expect.OK(t, expect.ErrorOf(g.Run(t.Context(), s)))
	for _, arm := range []recipe.Name{recipe.FI, recipe.EM} {
		dir := filepath.Join(g.Dir, "noise-40", "seed-1", string(arm))
		got := expect.Value(netLikelihood(t.Context(), dir, run.ModelOptions{Run: g.Config.Run}))(t)
		if want := byHand(t, dir); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: %v, want %v", arm, got, want)
		}
	}
	baseline := filepath.Join(g.Dir, "noise-40", "seed-1", "baseline")
	expect.Refusal(t, expect.ErrorOf(netLikelihood(t.Context(), baseline, run.ModelOptions{Run: g.Config.Run})),
		"no noise model")
}

// byHand is the same from scores, rates and noisy labels.
func byHand(t *testing.T, dir string) float64 {
	t.Helper()
	c, err := run.ReadConfig(dir)
	expect.OK(t, err)
	s := expect.Value(run.Open(t.Context(), *c, run.Options{}))(t)
	defer s.Close()
	net, _, err := train.OpenNet(filepath.Join(dir, train.LastName), s.Backend)
	expect.OK(t, err)
	defer net.Close()
	l := s.Config.Loader()
	l.BatchSize = 16
	scores := expect.Value(train.Score(t.Context(), net, s.Data.Train, l))(t)
	z, k := s.Data.Train.Labels.Uint8s(), s.Data.Train.Vocabulary.Len()
	sum := 0.0
	for i, o := range scores.Logits.Float32s() {
		p, q01, q10 := 1/(1+math.Exp(-float64(o))), scores.Rates.Q01[i%k], scores.Rates.Q10[i%k]
		one := (1-q01)*p + q10*(1-p)
		if z[scores.Index[i/k]*k+i%k] == 0 {
			one = 1 - one
		}
		sum -= math.Log(one)
	}
	return sum / float64(len(scores.Index))
}
