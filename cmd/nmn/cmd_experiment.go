package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nmn/experiment"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

type experimentCommand struct {
	experiment.Grid
	sources sources
	budget  time.Duration
	metrics metricsOptions
	shown   tablesOutput
	jobs    jobFlags
}

func newExperiment(p *program) *cobra.Command {
	e := experimentCommand{sources: newSources(), Grid: experiment.New(run.DefaultConfig(),
		filepath.Join("runs", "experiment")), budget: 5 * time.Minute, metrics: newMetricsOptions(p)}
	e.Rename = withFlags
	cmd := &cobra.Command{
		Use:   "experiment [DATA]",
		Short: "Compare methods at several noise levels, in one table",
		Long: `Train several arms at each noise level and seed, and print one table that compares them.
Complete runs are kept, so the same command continues an interrupted experiment.`,
		Annotations: details(`DATA is what nmn train takes; the default is scenes. Each arm has its own run folder. Stage 1
is trained once for each noise level and seed, and all arms start from it. The folder gets
table.md, table.csv and table.json, and index.html with links to a page for each run.

To use a job array, give all commands the same other flags: --tasks prints the runs with their
numbers, --task N trains one run, and --collect makes the tables. Hosts share the folder.`),
		Example: `  nmn experiment --preset scenes
  nmn experiment --size full --mil both --seeds 1,2,3 --run-dir runs/scenes-full
  nmn experiment --replace-captions 0.2,0.4,0.6,0.8 --arms stage1,baseline,nmn-fd --format markdown`,
		Args: oneData(p),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, p, args) },
	}
	sourceFlags(cmd, &e.sources, run.Auto, run.Quick, run.Full)
	r := under(cmd, "Experiment")
	some(r, &e.Arms, "arms", "train these `arms`, as arm,... (nmn config arm)", recipe.Names()...)
	enum(r, &e.MIL, "mil", "train with or without instances", experiment.WithoutMIL,
		experiment.WithMIL, experiment.BothMIL)
	numbers(r, &e.ReplaceCaptions, "replace-captions", "replace these shares of captions, as `share,...`", parseFloat)
	flipLevels(r, &e.Flips, "flips", "flip labels with these probabilities, `missing:incorrect,...`")
	r.seeds(&e.Seeds, "seeds", "repeat for these `seeds`, as n,...")
	r.duration(&e.budget, "budget", "let --size auto choose full if it fits this `time`")
	e.jobs.declare(cmd)
	e.sources.add(under(cmd, "Data"), "images", "labels", "vocab", "max-bad-samples")
	e.sources.add(under(cmd, "Network"), "net", "init", "backbone")
	e.sources.add(under(cmd, "Training"), "noise-rates", "epochs", "batch-size", "learning-rate")
	run := under(cmd, "Run")
	e.sources.add(run, "device", "precision", "threads")
	run.directory(&e.Dir, "run-dir", "write all runs to this `folder`")
	metricsFlags(run, &e.metrics)
	run.rare("metrics-addr")
	out := under(cmd, "Output")
	someOne(out, &e.Reference, "reference", "also compare all arms with this `arm`", recipe.Names()...)
	e.shown.flags(out)
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
		e.metrics = metricsOptions{} // listing has no metrics
	}
	s, err := openWatched(ctx, p, e.Config, e.metrics, keepsFeatures(p, e.Dir),
		func(o *run.Options) { o.SampleFeatures = e.jobs.list })
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	return goesOn(e.work(ctx, p, s.Session), false)
}

// work runs the experiment, or lists, runs or collects its tasks.
func (e *experimentCommand) work(ctx context.Context, p *program, s *run.Session) error {
	switch {
	case e.jobs.list:
		return e.printTasks(ctx, p, s)
	case e.jobs.task:
		t, reused, err := e.RunTask(ctx, s, e.jobs.number)
		if err != nil {
			return err
		}
		return p.tellTask(t, t.Dir, reused)
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

// show prints the tables: summaries with an explanation as text, or all tables in another format.
func (e *experimentCommand) show(p *program, o *experiment.Outcome) error {
	if e.shown.form() == report.Text {
		return e.print(p, o)
	}
	return e.shown.print(p, o.Tables...)
}

// print writes the summaries, their explanation, and the files to open.
func (e *experimentCommand) print(p *program, o *experiment.Outcome) error {
	if err := report.Write(p.out, report.Text, o.Summaries()...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\n%s\nAll measures: %s.\n", e.Explain(), filepath.Join(e.Dir, "table.md"))
	p.message(run.Message{Topic: "report", Text: filepath.Join(e.Dir, run.IndexFile) + ": the tables, and a page " +
		"for each run"})
	p.message(run.Message{Topic: "next", Text: "nmn predict RUN FILES with the folder of a run: what is in other " +
		e.Config.Data.Samples().String()})
	return err
}

// chooseSize returns the size from the flag or the file. If that is missing or auto, it returns the size of an earlier
// call in the same folder, or else the larger of quick and full that fits the budget.
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
		return "", usagef("experiment: --size auto depends on the speed of the host: " +
			"give --size quick or --size full for tasks")
	}
	if !e.Config.Data.Embedded() {
		return run.Quick, nil
	}
	if err := e.ResolveArms(); err != nil { // before steps are timed
		return "", err
	}
	return e.fitting(cmd, p)
}

// fitting times some steps and returns full if all arms fit the budget, else quick.
func (e *experimentCommand) fitting(cmd *cobra.Command, p *program) (run.Size, error) {
	full, err := e.estimate(cmd.Context(), p)
	if err != nil {
		return "", err
	}
	size, needed, why := run.Full, full, ""
	if full > e.budget {
		size, why = run.Quick, fmt.Sprintf("full would take %v; ", full.Round(time.Second))
		if err := e.from(cmd, size).Resolve(&e.Config); err != nil {
			return "", err
		}
		if needed, err = e.estimate(cmd.Context(), p); err != nil {
			return "", err
		}
	}
	if !p.quiet { // the table depends on it, so logs show it too
		fmt.Fprintf(p.status, "size    %s: takes about %v on a machine as busy as now; %s--budget allows %v\n", size,
			needed.Round(time.Second), why, e.budget)
	}
	p.log.Info("size chosen", "size", string(size), "estimate_s", needed.Seconds(), "full_estimate_s", full.Seconds(),
		"budget_s", e.budget.Seconds())
	return size, nil
}

// estimate times some steps and returns how long all arms take at the configured size.
func (e *experimentCommand) estimate(ctx context.Context, p *program) (time.Duration, error) {
	s, err := run.Open(ctx, e.Config, run.Options{Log: p.log})
	if err != nil {
		return 0, err
	}
	needed, err := e.Estimate(ctx, s)
	return needed, cmp.Or(err, s.Close())
}
