package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nmn/experiment"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// experimentCommand are the flags of nmn experiment.
type experimentCommand struct {
	experiment.Grid
	sources sources
	budget  time.Duration
	metrics metricsOptions
	format  report.Format
	asJSON  bool
	jobs    jobFlags
}

func newExperiment(p *program) *cobra.Command {
	e := experimentCommand{sources: newSources(), Grid: experiment.New(run.DefaultConfig(),
		filepath.Join("runs", "experiment")),
		budget: 5 * time.Minute, metrics: newMetricsOptions(p), format: report.Text}
	e.Rename = withFlags
	cmd := &cobra.Command{
		Use:   "experiment [DATA]",
		Short: "Train several arms at several noise levels and seeds, and print one table",
		Long: `Train the arms of the paper at each noise level and seed, each in a run folder of its
own, and print one table. Stage 1 is trained once for each noise level and seed, and all
arms of stage 2 start from it. What is complete is not run again; what was interrupted
goes on. The table also lies in the folder as table.md, table.csv and table.json, and
index.html has it beside links to a page for each run.
A job array does the runs at once: --tasks prints them with their numbers, --task does one,
on one host or many that share the folder, and --collect makes tables and page of what they
have left. All get the same other flags.
DATA is what nmn train takes; without it, scenes.`,
		Example: `  nmn experiment --preset scenes
  nmn experiment --size full --mil both --seeds 1,2,3 --run-dir runs/scenes-full
  nmn experiment --replace-captions 0.2,0.4,0.6,0.8 --arms stage1,baseline,nmn-fd --format markdown
  nmn experiment --size full --seeds 1,2,3 --tasks
  nmn experiment --size full --seeds 1,2,3 --task 4
  nmn experiment --size full --seeds 1,2,3 --collect`,
		Args: oneData(p),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, p, args) },
	}
	sourceFlags(cmd, &e.sources, run.Auto, run.Quick, run.Full)
	r := under(cmd, "Experiment")
	chosen(r, &e.Arms, "arms", "`arms` to train, as arm,... (docs/guide/evaluation.md lists them)", recipe.Names()...)
	enum(r, &e.MIL, "mil", "without or with instances joined by noisy-or, or `both`", experiment.WithoutMIL,
		experiment.WithMIL, experiment.BothMIL)
	r.floats(&e.ReplaceCaptions, "replace-captions",
		"shares of the training captions to replace, as `share,...` (default that of the preset)")
	flipLevels(r, &e.Flips,
		"flips", "features: labels to flip in training and validation, as `missing:incorrect,...`, two probabilities each "+
			"(default none)")
	r.seeds(&e.Seeds, "seeds", "`seeds` of noise, start and order, as n,...")
	r.duration(&e.budget, "budget", "size auto: take the full size where it fits into this `time`")
	e.jobs.declare(cmd)
	e.sources.add(under(cmd, "Data"), "images", "labels", "vocab", "max-bad-samples")
	e.sources.add(under(cmd, "Network"), "net", "init", "backbone")
	e.sources.add(under(cmd, "Training"), "noise-rates", "epochs", "batch-size", "learning-rate")
	run := under(cmd, "Run")
	e.sources.add(run, "device", "precision", "threads")
	run.directory(&e.Dir, "run-dir", "`folder` of all runs")
	metricsFlags(run, &e.metrics)
	out := under(cmd, "Output")
	enum(out, &e.Reference, "reference", "`arm` that all others are compared with, seed by seed, next to the baseline",
		recipe.Names()...)
	enum(out, &e.format, "format", "`format` of the table on standard output", report.Text, report.Markdown, report.CSV,
		report.JSON)
	out.bool(&e.asJSON, "json", "same as --format json")
	cmd.AddCommand(newTable4(p))
	return cmd
}

func (e *experimentCommand) run(cmd *cobra.Command, p *program, args []string) (err error) {
	ctx := cmd.Context()
	if err := e.sources.data(cmd.Context(), p, args); err != nil {
		return err
	}
	if err := e.jobs.resolve(cmd); err != nil {
		return err
	}
	if err := e.resolve(cmd, p); err != nil {
		return err
	}
	e.metrics.resolve(cmd, p, e.Dir)
	e.metrics.run = e.jobs.named(e.metrics.run)
	if e.jobs.list {
		e.metrics = metricsOptions{} // there is nothing to watch
	}
	s, err := openWatched(ctx, p, e.Config, e.metrics, keepsFeatures(p, e.Dir),
		func(o *run.Options) { o.SampleFeatures = e.jobs.list })
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	err = e.work(ctx, p, s.Session)
	if errors.Is(err, run.ErrInterrupted) {
		return fmt.Errorf("%w; the same command goes on", err)
	}
	return err
}

// work does the experiment, or what is asked for of its tasks.
func (e *experimentCommand) work(ctx context.Context, p *program, s *run.Session) error {
	switch {
	case e.jobs.list:
		return e.printTasks(ctx, p, s)
	case e.jobs.task:
		return e.doTask(ctx, p, s)
	case e.jobs.collect:
		return e.collectTasks(ctx, p, s)
	}
	outcome, err := e.Grid.Run(ctx, s)
	if err != nil || outcome == nil {
		return err
	}
	return e.show(p, outcome)
}

// resolve makes the configuration that all runs share, without noise, and chooses the size.
func (e *experimentCommand) resolve(cmd *cobra.Command, p *program) error {
	e.Chosen = cmd.Flags().Changed("arms")
	if err := e.Check(); err != nil {
		return err
	}
	size, err := e.chooseSize(cmd, p)
	if err != nil {
		return err
	}
	if err := e.from(cmd, size).Resolve(&e.Config); err != nil {
		return err
	}
	return e.Grid.Resolve()
}

// from are the sources of the configuration, with its size.
func (e *experimentCommand) from(cmd *cobra.Command, size run.Size) run.Sources {
	s := e.sources.of()
	s.Size = size
	if cmd.Flags().Changed("arms") {
		s.Arms = e.Arms
	}
	return s
}

// show prints the tables: what fits a terminal with what it means, or all of them in a format of files.
func (e *experimentCommand) show(p *program, o *experiment.Outcome) error {
	if e.asJSON {
		e.format = report.JSON
	}
	switch e.format {
	case report.Text:
		return e.print(p, o)
	case report.CSV:
		return report.Write(p.out, e.format, o.Tables[:1]...)
	}
	return report.Write(p.out, e.format, o.Tables...)
}

// print writes what fits a terminal, and what it means.
func (e *experimentCommand) print(p *program, o *experiment.Outcome) error {
	if err := report.Write(p.out, report.Text, o.Summaries()...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\n%s\nAll measures: %s. To look at, with a page for each run: %s.\n", e.Explain(),
		filepath.Join(e.Dir, "table.md"), filepath.Join(e.Dir, run.IndexFile))
	return err
}

// chooseSize is the size that flag or file name. Where they do not, or name auto, it is that of an
// earlier call in the same folder, else full or quick, whichever fits the budget.
func (e *experimentCommand) chooseSize(cmd *cobra.Command, p *program) (run.Size, error) {
	from := e.from(cmd, e.sources.size)
	file, err := from.Read()
	if err != nil {
		return "", err
	}
	if _, size, _ := from.Base(file); size != "" && size != run.Auto {
		return size, nil
	}
	if there, err := run.ReadConfig(e.Dir); err == nil {
		return there.Size, nil
	}
	if err := e.from(cmd, run.Full).Resolve(&e.Config); err != nil {
		return "", err
	}
	if e.Config.Data.Embedded() && e.jobs.wanted() {
		return "", usagef("experiment: tasks on several hosts need the same size, which --size auto would find by the " +
			"speed of each: give --size quick or --size full")
	}
	if !e.Config.Data.Embedded() {
		return run.Quick, nil
	}
	if err := e.ResolveArms(); err != nil { // before their steps are timed
		return "", err
	}
	return e.fitting(cmd.Context(), p)
}

// fitting is full where a short timing of real steps says that all arms fit into the budget.
func (e *experimentCommand) fitting(ctx context.Context, p *program) (run.Size, error) {
	s, err := run.Open(ctx, e.Config, run.Options{Log: p.log})
	if err != nil {
		return "", err
	}
	needed, err := e.Estimate(ctx, s)
	if err = cmp.Or(err, s.Close()); err != nil {
		return "", err
	}
	size := run.Quick
	if needed <= e.budget {
		size = run.Full
	}
	if !p.quiet { // it decides what the table means, so that logs have it too
		fmt.Fprintf(p.status, "size    %s: full would take about %v on a machine as busy as now; --budget allows %v\n", size,
			needed.Round(time.Second), e.budget)
	}
	p.log.Info("size chosen", "size", string(size), "full_estimate_s", needed.Seconds(), "budget_s", e.budget.Seconds())
	return size, nil
}
