package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/recipe"
	"nmn/train"
)

// small is a run of a few scenes that takes a second.
func smallScenes(t *testing.T, change func(*Config)) *Session {
	t.Helper()
	c := DefaultConfig()
	err := Sources{Settings: settings(t, "arm=baseline", "recipe.form=paper", "data.train_size=512",
		"data.validation_size=64", "data.test_size=64", "net.width=.5", "run.device=cpu", "run.threads=1",
		"train.stage1_epochs=6", "train.stage2_epochs=1")}.Resolve(&c)
	change(&c)
	must(t, err)
	return opened(t, c, Options{})
}

// lastLoss trains stage 1 and returns its loss.
func lastLoss(t *testing.T, rate float64) float64 {
	t.Helper()
	var loss float64
	s := smallScenes(t, func(c *Config) { c.Arm, c.Train.LearningRate = recipe.Stage1, rate })
	s.Observe.Training = func(Training) []train.Observer {
		return []train.Observer{{Epoch: func(e train.EpochDone) { loss = e.Loss }}}
	}
	learn(t, s, t.TempDir())
	return loss
}

func TestFindLearningRate_SuggestsOneThatTrainsAsTheDefaultDoes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: trains several runs")
	}
	dir := filepath.Join(t.TempDir(), "new")
	s := smallScenes(t, func(*Config) {})
	found, err := s.FindLearningRate(context.Background(), dir)
	must(t, err)
	if found.Suggested < 1e-4 || found.Suggested > 2e-2 || found.Arm != "stage1" || found.LearningRate != 1e-3 {
		t.Errorf("found %+v", *found.LearningRateSearch)
	}
	table, err := os.ReadFile(filepath.Join(dir, LearningRateSearchFile))
	if lines := strings.Count(string(table), "\n"); err != nil || lines != 1+found.Steps || found.Steps < 50 {
		t.Errorf("%d lines of %d steps, %v", lines, found.Steps, err)
	}
	if chart, err := os.ReadFile(filepath.Join(dir, LearningRateSearchChart)); err != nil ||
		!strings.Contains(string(chart), "<svg") {
		t.Errorf("no chart: %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if text := found.Text(); !strings.Contains(text, "`train.learning_rate`") || !strings.Contains(text, "stage1") {
		t.Error(text)
	}
	before, after := lastLoss(t, 1e-3), lastLoss(t, found.Suggested)
	if after > 1.05*before {
		t.Errorf("loss %g at the suggested %g, %g at the default", after, found.Suggested, before)
	}
	// The folder of a search is free for the run.
	c := s.Config
	must(t, checkFolder(dir, ofRun, &c))
}
