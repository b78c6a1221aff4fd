package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// experiment are the flags of nmn experiment.
type experiment struct {
	grid
	sources sources
	budget  time.Duration
	metrics string
	format  report.Format
	asJSON  bool
}

func newExperiment(p *program) *cobra.Command {
	e := experiment{grid: newGrid(run.DefaultConfig(), filepath.Join("runs", "experiment")), budget: 5 * time.Minute, metrics: p.getenv(metricsVariable), format: report.Text}
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
	enum(r, &e.mil, "mil", "without or with instances joined by noisy-or, or `both`", milOff, milOn, milBoth)
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
	run.directory(&e.dir, "run-dir", "`folder` of all runs")
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
	outcome, err := e.grid.run(ctx, s.Session)
	switch {
	case errors.Is(err, run.ErrInterrupted):
		return fmt.Errorf("%w; the same command goes on", err)
	case err != nil:
		return err
	}
	return e.show(p, outcome)
}

// resolve makes the configuration that all runs share, without noise, and chooses the size.
func (e *experiment) resolve(cmd *cobra.Command, p *program) error {
	e.chosen = cmd.Flags().Changed("arms")
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
	return e.grid.resolve()
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

// show prints the tables: what fits a terminal with what it means, or all of them in a format of files.
func (e *experiment) show(p *program, o *gridOutcome) error {
	if e.asJSON {
		e.format = report.JSON
	}
	switch e.format {
	case report.Text:
		return e.print(p, o)
	case report.CSV:
		return report.Write(p.out, e.format, o.tables[:1]...)
	}
	return report.Write(p.out, e.format, o.tables...)
}

// print writes what fits a terminal, and what it means.
func (e *experiment) print(p *program, o *gridOutcome) error {
	if err := report.Write(p.out, report.Text, o.summaries()...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\n%s\nAll measures: %s. To look at, with a page for each run: %s.\n", e.explain(),
		filepath.Join(e.dir, "table.md"), filepath.Join(e.dir, run.IndexFile))
	return err
}
