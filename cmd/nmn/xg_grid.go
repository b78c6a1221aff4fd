package main

import (
	"cmp"
	"fmt"
	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/run"
	"slices"
	"strings"
)

// grid is an experiment: arms × noise levels × seeds, each combination in a run folder of its own.
type grid struct {
	// config is what all runs share. Arm, noise, seed and MIL are those of each run.
	config run.Config
	arms   []recipe.Name
	// chosen says that somebody has named the arms; else choose may take others.
	chosen    bool
	reference recipe.Name // that the others are compared with, beside star; empty for none
	mil       milChoice
	rates     []float64           // shares of captions to replace; none for that of the configuration
	flips     []dataset.FlipLevel // labels to flip, for data without captions; none for those of the configuration
	seeds     []uint64            // of noise, start and order
	dir       string              // folder of all runs

	heading string // of the noise level and seed in progress, until it is told
}

// newGrid is an experiment of the paper's arms, at the noise of the configuration and one seed.
func newGrid(c run.Config, dir string) grid {
	return grid{config: c, arms: recipe.PaperArms(), mil: milOff, seeds: []uint64{1}, dir: dir}
}

// milChoice says which arms of a pair are run.
type milChoice string

const (
	milOff  milChoice = "off"  // every picture is one instance
	milOn   milChoice = "on"   // the cells of its score map are, joined by noisy-or
	milBoth milChoice = "both" // one after the other
)

// resolve checks the experiment and chooses what is left open: the arms and the levels of noise. The configuration
// is then without noise.
func (g *grid) resolve() error {
	if err := g.check(); err != nil {
		return err
	}
	if err := g.resolveArms(); err != nil {
		return err
	}
	return g.resolveNoise()
}

// chooseArms takes those of the recipe beside those of the paper where nobody names any.
func (g *grid) chooseArms() {
	settings := g.config.Settings()
	if !settings.Estimates() || g.chosen {
		return
	}
	g.arms = []recipe.Name{recipe.Stage1, recipe.Star, recipe.FI, recipe.RN}
	if g.config.Data.Embedded() {
		g.arms = append(g.arms, recipe.FD)
	}
	if settings.Folds() > 0 {
		g.arms = append(g.arms, recipe.RS)
	}
}

// resolveArms chooses the arms and refuses those that the recipe cannot train.
func (g *grid) resolveArms() error {
	g.chooseArms()
	if g.reference != "" && !slices.Contains(g.arms, g.reference) {
		return setting.Errorf("experiment.reference", "experiment: experiment.reference %s is not among the arms: give experiment.arms %s too", g.reference, g.reference)
	}
	for _, a := range g.arms {
		c := g.config
		c.Arm = a
		if err := cmp.Or(c.ValidateRecipe(), c.ValidateLoss()); err != nil {
			return &setting.Error{Field: "experiment.arms", Err: err}
		}
	}
	return nil
}

// resolveNoise chooses the levels of noise: of replaced captions, or of flipped labels.
func (g *grid) resolveNoise() error {
	d := &g.config.Data
	switch {
	case d.Captioned() && len(g.flips) > 0:
		return setting.Errorf("experiment.flips", "experiment: experiment.flips is for features and manifests; captions are replaced by experiment.noise_rates")
	case !d.Captioned() && len(g.rates) > 0:
		return setting.Errorf("experiment.noise_rates", "experiment: experiment.noise_rates replaces captions, which %s do not have: flip labels with experiment.flips 0.3:0.1", d.Noun())
	case !d.Captioned() && len(g.flips) == 0:
		g.flips = []dataset.FlipLevel{d.Flips}
	case d.Captioned() && len(g.rates) == 0:
		g.rates = []float64{d.Noise}
	}
	d.Noise, d.NoiseFile, d.Flips = 0, "", ""
	return nil
}

// noiseLevel is one of an experiment: a rate of captions, or flips of labels.
type noiseLevel struct {
	rate  float64
	flips dataset.FlipLevel
}

func (g *grid) levels() []noiseLevel {
	var all []noiseLevel
	for _, rate := range g.rates {
		all = append(all, noiseLevel{rate: rate})
	}
	for _, flips := range g.flips {
		all = append(all, noiseLevel{flips: flips})
	}
	return all
}

// String names the level for people, folder for files.
func (l noiseLevel) String() string {
	if l.flips != "" {
		return string(l.flips)
	}
	return fmt.Sprintf("%.4g %%", 100*l.rate)
}

func (l noiseLevel) folder() string {
	if l.flips != "" {
		return "flips-" + strings.ReplaceAll(string(l.flips), ":", "-")
	}
	return fmt.Sprintf("noise-%.4g", 100*l.rate)
}

func (g *grid) check() error {
	if len(g.arms) == 0 || len(g.seeds) == 0 {
		return setting.Errorf("experiment.arms", "experiment: there is nothing to run: give at least one of experiment.arms and of experiment.seeds")
	}
	for _, rate := range g.rates {
		if !(rate >= 0 && rate < 1) {
			return setting.Errorf("experiment.noise_rates", "experiment: a noise rate is %g, want at least 0 and less than 1", rate)
		}
	}
	for i, seed := range g.seeds {
		if seed == 0 || slices.Contains(g.seeds[:i], seed) {
			return setting.Errorf("experiment.seeds", "experiment: seed %d: seeds are different and at least 1", seed)
		}
	}
	return nil
}

func (g *grid) mils() []bool {
	switch g.mil {
	case milOn:
		return []bool{true}
	case milBoth:
		return []bool{false, true}
	}
	return []bool{false}
}

// needed are the arms to train, in order: those asked for, and stage 1 where another starts from it.
func (g *grid) needed() []recipe.Name {
	var all []recipe.Name
	for _, a := range recipe.Names() {
		if a == recipe.Stage1 || slices.Contains(g.arms, a) {
			all = append(all, a)
		}
	}
	return all
}
