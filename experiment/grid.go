package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/labels/inject"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// Grid is an experiment: arms × noise levels × seeds, each combination in a run folder of its own.
type Grid struct {
	// Config is the configuration that all runs share. Each run sets its own arm, noise, seed and MIL.
	Config          run.Config
	Arms            []recipe.Name
	Chosen          bool        // the caller has named Arms; without it ResolveArms may choose others
	Reference       recipe.Name // arm that the others are compared with, next to the baseline; empty for none
	MIL             MIL
	ReplaceCaptions []float64           // shares of captions to replace; none for that of the configuration
	Flips           []dataset.FlipLevel // labels to flip, for data without captions; empty for the configured flips
	Seeds           []uint64            // of noise, start and order
	Dir             string              // folder of all runs

	// Rename puts the names that a program has for settings, such as flags, into texts for people, where they stand as
	// keys between backquotes; nil for the keys.
	Rename func(text string) string

	heading string // of the noise level and seed in progress, until it has been said
	reused  int    // runs that were complete
	pace    *pace  // of the runs so far; nil for tasks, which run in several processes
}

// New returns an experiment of the paper's arms without MIL, at the noise of the configuration and with seed 1, whose
// runs lie in folders below dir.
func New(c run.Config, dir string) Grid {
	return Grid{Config: c, Arms: recipe.PaperArms(), MIL: WithoutMIL, Seeds: []uint64{1}, Dir: dir}
}

// MIL says whether every arm is run without MIL, with MIL, or once each way.
type MIL string

// The choices of MIL.
const (
	WithoutMIL MIL = "off"  // every picture is one instance
	WithMIL    MIL = "on"   // the cells of its score map are, joined by noisy-or
	BothMIL    MIL = "both" // one after the other
)

// Resolve checks the experiment and chooses what is left open: the arms and the levels of noise. The configuration
// is then without noise.
func (g *Grid) Resolve() error {
	if err := g.Check(); err != nil {
		return err
	}
	var named []recipe.Name
	if g.Chosen {
		named = g.Arms
	}
	if err := g.Config.Complete(named...); err != nil {
		return err
	}
	if err := g.ResolveArms(); err != nil {
		return err
	}
	return g.ResolveNoise()
}

// chooseArms adds the arms of the recipe to the arms of the paper if the user names no arms.
func (g *Grid) chooseArms() {
	settings := g.Config.Settings()
	if !settings.Estimates() || g.Chosen {
		return
	}
	if g.Config.Exclusive() {
		g.Arms = []recipe.Name{recipe.Stage1, recipe.Baseline, recipe.HeldRates}
		return
	}
	g.Arms = []recipe.Name{recipe.Stage1, recipe.Baseline, recipe.FI, recipe.HeldRates}
	if g.Config.Data.Embedded() {
		g.Arms = append(g.Arms, recipe.FD)
	}
	if settings.Folds() > 0 {
		g.Arms = append(g.Arms, recipe.SoftLabels)
	}
	if g.Config.Recipe.Captions == recipe.Witness && g.Config.Data.Set != dataset.Clips { // these may not be in memory
		g.Arms = append(g.Arms, recipe.CaptionFilter)
	}
}

// ResolveArms chooses the arms and refuses those that the recipe cannot train.
func (g *Grid) ResolveArms() error {
	g.chooseArms()
	if g.Reference != "" && !slices.Contains(g.Arms, g.Reference) {
		return setting.Errorf("experiment.reference", "experiment: `experiment.reference` %s is not among the arms: give "+
			"`experiment.arms` %s too", g.Reference, g.Reference)
	}
	if t := &g.Config.Train; min(t.BatchSize, t.BatchSizeMIL) == train.AutoBatch {
		return setting.Errorf("train.batch_size", "experiment: all runs of an experiment have batches of the same size: "+
			"give `train.batch_size` and `train.batch_size_mil` as numbers")
	}
	for _, a := range g.Arms {
		c := g.Config
		c.Arm = a
		err := cmp.Or(c.ValidateRecipe(), c.ValidateLoss())
		if err == nil && c.Exclusive() {
			err = c.Settings().ValidateExclusive()
		}
		if err != nil {
			return &setting.Error{Key: "experiment.arms", Reason: err}
		}
		if c.Exclusive() {
			g.Config.Arm = a // one that trains such classes
		}
	}
	return nil
}

// ResolveNoise chooses the levels of noise: of replaced captions, or of flipped labels.
func (g *Grid) ResolveNoise() error {
	d := &g.Config.Data
	switch {
	case d.Captioned() && len(g.Flips) > 0:
		return setting.Errorf("experiment.flips", "experiment: `experiment.flips` is for features and manifests; captions "+
			"are replaced by `experiment.replace_captions`")
	case !d.Captioned() && len(g.ReplaceCaptions) > 0:
		return setting.Errorf("experiment.replace_captions", "experiment: `experiment.replace_captions` replaces "+
			"captions, which %s do not have: flip labels with `experiment.flips` 0.3:0.1", d.Noun())
	case !d.Captioned() && len(g.Flips) == 0:
		g.Flips = []dataset.FlipLevel{d.Flips}
	case d.Captioned() && len(g.ReplaceCaptions) == 0:
		g.ReplaceCaptions = []float64{d.Noise}
	}
	d.Noise, d.NoiseFile, d.Flips = 0, "", ""
	return nil
}

// noiseLevel is one of an experiment: a share of captions, or flips of labels.
type noiseLevel struct {
	share float64
	kind  inject.Kind // of the replaced captions
	flips dataset.FlipLevel
}

func (g *Grid) levels() []noiseLevel {
	var all []noiseLevel
	for _, share := range g.ReplaceCaptions {
		level := noiseLevel{share: share}
		if share > 0 {
			level.kind = g.Config.Data.NoiseKind
		}
		all = append(all, level)
	}
	for _, flips := range g.Flips {
		all = append(all, noiseLevel{flips: flips})
	}
	return all
}

// String names the level for people, folder for files.
func (l noiseLevel) String() string {
	if l.flips != "" {
		return string(l.flips)
	}
	return strings.TrimSpace(fmt.Sprintf("%.4g %% %s", 100*l.share, l.kind.Remark()))
}

func (l noiseLevel) folder() string {
	if l.flips != "" {
		return "flips-" + strings.ReplaceAll(string(l.flips), ":", "-")
	}
	return strings.TrimSuffix(fmt.Sprintf("noise-%.4g-%s", 100*l.share, l.kind.Remark()), "-")
}

// Check reports the first mistake in what the caller has set, as a *setting.Error with the key of the setting.
func (g *Grid) Check() error {
	if len(g.Arms) == 0 || len(g.Seeds) == 0 {
		return setting.Errorf("experiment.arms",
			"experiment: there is nothing to run: give at least one of `experiment.arms` and of `experiment.seeds`")
	}
	for _, share := range g.ReplaceCaptions {
		if !(share >= 0 && share < 1) {
			return setting.Errorf("experiment.replace_captions",
				"experiment: a share of captions is %g, want at least 0 and less than 1", share)
		}
	}
	return CheckSeeds("experiment.seeds", "experiment", g.Seeds)
}

// CheckSeeds reports the first seed of a setting that no run can have, as a *setting.Error that names the experiment.
func CheckSeeds(key, name string, seeds []uint64) error {
	for i, seed := range seeds {
		if seed == 0 || slices.Contains(seeds[:i], seed) {
			return setting.Errorf(key, "%s: seed %d: seeds are different and at least 1", name, seed)
		}
	}
	return nil
}

func (g *Grid) mils() []bool {
	switch g.MIL {
	case WithMIL:
		return []bool{true}
	case BothMIL:
		return []bool{false, true}
	}
	return []bool{false}
}

// needed are the arms to train, in order: those asked for, and stage 1 where another starts from it.
func (g *Grid) needed() []recipe.Name {
	var all []recipe.Name
	for _, a := range recipe.Names() {
		if a == recipe.Stage1 || slices.Contains(g.Arms, a) {
			all = append(all, a)
		}
	}
	return all
}
