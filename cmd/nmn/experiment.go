package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// experiment is arms × noise levels × seeds.
type experiment struct {
	config    run.Config
	sources   sources
	arms      []recipe.Name
	reference recipe.Name // that the others are compared with, beside star
	mil       string
	rates     []float64
	flips     []dataset.FlipLevel
	seeds     []uint64
	budget    time.Duration
	runDir    string
	metrics   string
	format    report.Format
	asJSON    bool
	heading   string // of the noise level and seed in progress, until it is told
}

func newExperiment(p *program) *cobra.Command {
	e := experiment{config: run.DefaultConfig(), arms: recipe.PaperArms(), mil: "off", seeds: []uint64{1}, budget: 5 * time.Minute,
		runDir: filepath.Join("runs", "experiment"), metrics: p.getenv(metricsVariable), format: report.Text}
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Train several arms at several noise levels and seeds, and print one table",
		Long: `Train the arms of the paper at each noise level and seed, each in a run folder of its
own, and print one table. Stage 1 is trained once for each noise level and seed, and all
arms of stage 2 start from it. What is complete is not run again; what was interrupted
goes on. The table also lies in the folder as table.md, table.csv and table.json, and
index.html has it beside links to a page for each run.
Defaults are those of --preset scenes in quick size.`,
		Example: `  nmn experiment --preset scenes
  nmn experiment --size full --mil both --seeds 1,2,3 --run-dir runs/scenes-full
  nmn experiment --noise-rates 0.2,0.4,0.6,0.8 --arms stage1,star,nmn-fd --format markdown`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd, p) },
	}
	sourceFlags(cmd, &e.sources, run.Auto, run.Quick, run.Full)
	r := under(cmd, "Experiment")
	chosen(r, &e.arms, "arms", "`arms` to train, as arm,... (docs/evaluation.md tells what each is)", recipe.Names()...)
	enum(r, &e.mil, "mil", "without or with instances joined by noisy-or, or `both`", "off", "on", "both")
	r.floats(&e.rates, "noise-rates", "shares of the training captions to replace, as `rate,...` (default that of the preset)")
	flipLevels(r, &e.flips, "flips", "features: labels to flip in training and validation, as `missing:incorrect,...`, two probabilities each (default none)")
	r.seeds(&e.seeds, "seeds", "`seeds` of noise, start and order, as n,...")
	r.duration(&e.budget, "budget", "size auto: take the full size where it fits into this `time`")
	setFlags(cmd, &e.config)
	flipFlags(cmd, &e.config.Data)
	featureDataFlags(cmd, &e.config, true)
	netFlags(cmd, &e.config)
	trainFlags(cmd, &e.config)
	runFlags(cmd, &e.config.Run)
	run := under(cmd, "Run")
	run.directory(&e.runDir, "run-dir", "`folder` of all runs")
	metricsFlag(run, &e.metrics)
	out := under(cmd, "Output")
	enum(out, &e.reference, "reference", "`arm` that all others are compared with, seed by seed, beside star", recipe.Names()...)
	enum(out, &e.format, "format", "`format` of the table on standard output", report.Text, report.Markdown, report.CSV, report.JSON)
	out.bool(&e.asJSON, "json", "same as --format json")
	cmd.AddCommand(newTable4(p))
	return cmd
}

func (e *experiment) run(cmd *cobra.Command, p *program) (err error) {
	ctx := cmd.Context()
	if err := e.resolve(cmd, p); err != nil {
		return err
	}
	if e.sources.print {
		return printConfig(p, &e.config)
	}
	s, err := openWatched(ctx, p, &e.config, e.metrics)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	plain, err := s.Prepare(ctx, &e.config)
	if err != nil {
		return err
	}
	if plain {
		e.arms = recipe.PaperArms()
	}
	s.TellCost(&e.config, e.arms...)
	runs, err := e.all(ctx, s.Session)
	if errors.Is(err, run.ErrInterrupted) {
		return fmt.Errorf("%w; the same command goes on", err)
	}
	if err != nil {
		return err
	}
	if e.asJSON {
		e.format = report.JSON
	}
	return e.show(ctx, p, s.Session, runs)
}

// resolve makes the configuration that all runs share, without noise, and chooses the size.
func (e *experiment) resolve(cmd *cobra.Command, p *program) error {
	if err := e.check(); err != nil {
		return err
	}
	size, err := e.chooseSize(cmd, p)
	if err != nil {
		return err
	}
	if err := e.from(cmd, size).Resolve(&e.config); err != nil {
		return err
	}
	if err := e.resolveArms(cmd); err != nil {
		return err
	}
	return e.resolveNoise()
}

// chooseArms takes those of the recipe beside those of the paper where nobody names any.
func (e *experiment) chooseArms(cmd *cobra.Command) {
	settings := e.config.Settings()
	if !settings.Estimates() || cmd.Flags().Changed("arms") {
		return
	}
	e.arms = []recipe.Name{recipe.Stage1, recipe.Star, recipe.FI, recipe.RN}
	if e.config.Data.Embedded() {
		e.arms = append(e.arms, recipe.FD)
	}
	if settings.Folds() > 0 {
		e.arms = append(e.arms, recipe.RS)
	}
}

// resolveArms chooses the arms and refuses those that the recipe cannot train.
func (e *experiment) resolveArms(cmd *cobra.Command) error {
	e.chooseArms(cmd)
	if e.reference != "" && !slices.Contains(e.arms, e.reference) {
		return usagef("experiment: --reference %s is not among the arms: give --arms %s too", e.reference, e.reference)
	}
	for _, a := range e.arms {
		c := e.config
		c.Arm = a
		if err := cmp.Or(c.ValidateRecipe(), c.ValidateLoss()); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// resolveNoise chooses the levels of noise: of replaced captions, or of flipped labels.
func (e *experiment) resolveNoise() error {
	d := &e.config.Data
	switch {
	case d.Captioned() && len(e.flips) > 0:
		return usagef("experiment: --flips is for features and manifests; captions are replaced by --noise-rates")
	case !d.Captioned() && len(e.rates) > 0:
		return usagef("experiment: --noise-rates replaces captions, which %s do not have: flip labels with --flips 0.3:0.1", d.Noun())
	case !d.Captioned() && len(e.flips) == 0:
		e.flips = []dataset.FlipLevel{d.Flips}
	case d.Captioned() && len(e.rates) == 0:
		e.rates = []float64{d.Noise}
	}
	d.Noise, d.NoiseFile, d.Flips = 0, "", ""
	return nil
}

// noiseLevel is one of an experiment: a rate of captions, or flips of labels.
type noiseLevel struct {
	rate  float64
	flips dataset.FlipLevel
}

func (e *experiment) levels() []noiseLevel {
	var all []noiseLevel
	for _, rate := range e.rates {
		all = append(all, noiseLevel{rate: rate})
	}
	for _, flips := range e.flips {
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

func (e *experiment) check() error {
	if len(e.arms) == 0 || len(e.seeds) == 0 {
		return usagef("experiment: there is nothing to run: give at least one of --arms and of --seeds")
	}
	for _, rate := range e.rates {
		if !(rate >= 0 && rate < 1) {
			return usagef("experiment: a noise rate is %g, want at least 0 and less than 1", rate)
		}
	}
	for i, seed := range e.seeds {
		if seed == 0 || slices.Contains(e.seeds[:i], seed) {
			return usagef("experiment: seed %d: seeds are different and at least 1", seed)
		}
	}
	return nil
}

// from are the sources of the configuration, with its size.
func (e *experiment) from(cmd *cobra.Command, size run.Size) run.Sources {
	s := e.sources.of(cmd.Flags(), &e.config)
	s.Size = size
	if cmd.Flags().Changed("arms") {
		s.Arms = e.arms
	}
	return s
}

func (e *experiment) mils() []bool {
	switch e.mil {
	case "on":
		return []bool{true}
	case "both":
		return []bool{false, true}
	}
	return []bool{false}
}

// needed are the arms to train, in order: those asked for, and stage 1 where another starts from it.
func (e *experiment) needed() []recipe.Name {
	var all []recipe.Name
	for _, a := range recipe.Names() {
		if a == recipe.Stage1 || slices.Contains(e.arms, a) {
			all = append(all, a)
		}
	}
	return all
}

// all runs everything and returns the runs that were asked for.
func (e *experiment) all(ctx context.Context, s *run.Session) ([]report.Run, error) {
	if err := run.PrepareFolder(e.runDir, &e.config); err != nil {
		return nil, err
	}
	clean := s.Data
	defer func() { s.Data = clean }()
	var runs []report.Run
	levels := e.levels()
	groups := len(levels) * len(e.seeds)
	for i, level := range levels {
		for j, seed := range e.seeds {
			e.heading = fmt.Sprintf("noise %v, seed %d (%d of %d)", level, seed, i*len(e.seeds)+j+1, groups)
			c := e.config
			c.Data.Noise, c.Data.Flips, c.Data.NoiseSeed, c.Train.Seed = level.rate, level.flips, seed, seed
			var err error
			if s.Data, err = clean.WithNoise(ctx, &c.Data); err != nil {
				return nil, err
			}
			for _, mil := range e.mils() {
				c.Net.MIL = mil
				some, err := e.arm(ctx, s, c, level)
				if err != nil {
					return nil, err
				}
				runs = append(runs, some...)
			}
		}
	}
	return runs, nil
}

// arm trains the arms at one noise level, seed and setting of MIL.
func (e *experiment) arm(ctx context.Context, s *run.Session, c run.Config, level noiseLevel) ([]report.Run, error) {
	s, err := s.At(ctx, &c)
	if err != nil {
		return nil, err
	}
	group := filepath.Join(e.runDir, level.folder(), fmt.Sprintf("seed-%d", c.Train.Seed))
	var runs []report.Run
	first := ""
	for _, name := range e.arms {
		c.Arm = name
		settings := c.Settings()
		if err := settings.Fits(s.Data); err != nil {
			return nil, err
		}
	}
	found := s.Recipe(c, filepath.Join(group, run.RecipeFolder+recipe.Suffix(c.Net.MIL)))
	for _, name := range e.needed() {
		c.Arm = name
		arm, err := name.TrainArm(c.Net.MIL)
		if err != nil {
			return nil, err
		}
		dir, from := filepath.Join(group, arm.Name), ""
		switch {
		case arm.Stage == 2:
			from = filepath.Join(first, train.LastName)
		case name == recipe.Stage1:
			first = dir
		}
		trained := s.Arm(c, dir, from, found)
		trained.Heading = e.heading
		o, reused, err := trained.Run(ctx)
		if err != nil {
			return nil, err
		}
		if !reused {
			e.heading = ""
		}
		s.Log.Info("arm done", "dir", dir, "reused", reused, "seconds", o.Seconds)
		if reused {
			s.Tell(run.Message{Text: dir + " is complete: not run again", Detail: true})
		}
		if slices.Contains(e.arms, name) {
			page, err := o.Report(&c, dir)
			if err != nil {
				return nil, err
			}
			runs = append(runs, *page)
		}
	}
	return runs, nil
}
