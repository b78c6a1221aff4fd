package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/report"
	"nmn/train"
)

// experiment is arms × noise levels × seeds.
type experiment struct {
	config  config
	sources sources
	arms    []armName
	mil     string
	rates   []float64
	seeds   []uint64
	budget  time.Duration
	runDir  string
	metrics string
	format  report.Format
	asJSON  bool
}

func newExperiment(p *program) *cobra.Command {
	e := experiment{config: defaultConfig(), arms: arms(), mil: "off", seeds: []uint64{1}, budget: 7 * time.Minute,
		runDir: filepath.Join("runs", "experiment"), format: report.Text}
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Train several arms at several noise levels and seeds, and print one table",
		Long: `Train the arms of the paper at each noise level and seed, each in a run folder of its
own, and print one table. Stage 1 is trained once for each noise level and seed, and all
arms of stage 2 start from it. What is complete is not run again; what was interrupted
goes on. The table also lies in the folder as table.md, table.csv and table.json.
Defaults are those of --preset scenes in quick size.`,
		Example: `  nmn experiment --preset scenes
  nmn experiment --size full --mil both --seeds 1,2,3 --run-dir runs/scenes-full
  nmn experiment --noise-rates 0.2,0.4,0.6,0.8 --arms stage1,star,nmn-fd --format markdown`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.run(cmd, p) },
	}
	sourceFlags(cmd, &e.sources, sizeAuto, sizeQuick, sizeFull)
	r := under(cmd, "Experiment")
	chosen(r, &e.arms, "arms", "`arms` to train, as arm,...", arms()...)
	enum(r, &e.mil, "mil", "without or with instances joined by noisy-or, or `both`", "off", "on", "both")
	r.floats(&e.rates, "noise-rates", "shares of the training captions to replace, as `rate,...` (default that of the preset)")
	r.seeds(&e.seeds, "seeds", "`seeds` of noise, start and order, as n,...")
	r.duration(&e.budget, "budget", "size auto: take the full size where it fits into this `time`")
	setFlags(cmd, &e.config)
	netFlags(cmd, &e.config)
	trainFlags(cmd, &e.config)
	runFlags(cmd, &e.config)
	run := under(cmd, "Run")
	run.directory(&e.runDir, "run-dir", "`folder` of all runs")
	run.string(&e.metrics, "metrics-addr", "serve Prometheus metrics on this `port` of localhost, or on host:port")
	out := under(cmd, "Output")
	enum(out, &e.format, "format", "`format` of the table on standard output", report.Text, report.Markdown, report.CSV, report.JSON)
	out.bool(&e.asJSON, "json", "same as --format json")
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
	s, err := openSession(ctx, p, &e.config, e.metrics)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	runs, err := e.all(ctx, s)
	if errors.Is(err, errInterrupted) {
		return fmt.Errorf("%w; the same command goes on", err)
	}
	if err != nil {
		return err
	}
	if e.asJSON {
		e.format = report.JSON
	}
	return e.show(p, runs)
}

// resolve makes the configuration that all runs share, without noise, and chooses the size.
func (e *experiment) resolve(cmd *cobra.Command, p *program) error {
	size := e.sources.size
	if size == "" {
		size = sizeAuto
	}
	if size == sizeAuto {
		size = sizeQuick
		if there, err := readFolderConfig(e.runDir); err == nil {
			size = there.Size // what was chosen before
		} else if err := e.layers(cmd, sizeFull); err != nil {
			return err
		} else if e.config.Preset == presetScenes {
			if size, err = e.fitting(cmd.Context(), p); err != nil {
				return err
			}
		}
	}
	if err := e.layers(cmd, size); err != nil {
		return err
	}
	if len(e.rates) == 0 {
		e.rates = []float64{e.config.Data.Noise}
	}
	for _, rate := range e.rates {
		if !(rate >= 0 && rate < 1) {
			return usagef("experiment: a noise rate is %g, want at least 0 and less than 1", rate)
		}
	}
	e.config.Data.Noise, e.config.Data.NoiseFile, e.config.Size = 0, "", size
	if len(e.arms) == 0 || len(e.seeds) == 0 {
		return usagef("experiment: there is nothing to run: give at least one of --arms and of --seeds")
	}
	return nil
}

func (e *experiment) layers(cmd *cobra.Command, size sizeName) error {
	rates := e.rates
	err := e.config.resolve(layers{e.sources.preset, size, e.sources.file, cmd.Flags()})
	e.rates = rates
	return err
}

// fitting is full where a short timing of real steps says that all arms fit into the budget.
func (e *experiment) fitting(ctx context.Context, p *program) (sizeName, error) {
	if e.sources.print {
		return sizeQuick, nil
	}
	quiet := *p
	quiet.quiet = true
	s, err := openSession(ctx, &quiet, &e.config, "")
	if err != nil {
		return "", err
	}
	needed, err := e.estimate(ctx, s)
	if err = firstError(err, s.close()); err != nil {
		return "", err
	}
	size := sizeQuick
	if needed <= e.budget {
		size = sizeFull
	}
	p.note("size    %s: full would take about %v of %v", size, needed.Round(time.Second), e.budget)
	p.log.Info("size chosen", "size", string(size), "full_estimate_s", needed.Seconds(), "budget_s", e.budget.Seconds())
	return size, nil
}

// estimate is how long all runs take at the configured size.
func (e *experiment) estimate(ctx context.Context, s *session) (time.Duration, error) {
	total := 0.0
	for _, mil := range e.mils() {
		c := e.config
		c.Net.MIL = mil
		for _, name := range e.needed() {
			arm, err := name.trained(mil)
			if err != nil {
				return 0, err
			}
			one, err := measure(ctx, &c, s, arm)
			if err != nil {
				return 0, err
			}
			// Evaluations go forward only, a third of a step.
			perPicture := one.step.Seconds() / float64(c.Train.Batch(mil)*c.Train.Accumulate)
			evaluated := c.Data.ValidationSize*c.Train.Epochs(arm.Stage) + c.Data.TestSize
			total += one.step.Seconds()*float64(one.steps) + perPicture/3*float64(evaluated)
		}
	}
	const reserve = 1.15 // steps in a row are slower than a few fast ones
	combinations := max(1, len(e.rates)) * len(e.seeds)
	return time.Duration(reserve * total * float64(combinations) * float64(time.Second)), nil
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
func (e *experiment) needed() []armName {
	var all []armName
	for _, a := range arms() {
		if a == armStage1 || slices.Contains(e.arms, a) {
			all = append(all, a)
		}
	}
	return all
}

// all runs everything and returns the runs that were asked for.
func (e *experiment) all(ctx context.Context, s *session) ([]report.Run, error) {
	if err := prepareFolder(e.runDir, &e.config); err != nil {
		return nil, err
	}
	clean := s.data
	defer func() { s.data = clean }()
	var runs []report.Run
	for _, rate := range e.rates {
		for _, seed := range e.seeds {
			c := e.config
			c.Data.Noise, c.Data.NoiseSeed, c.Train.Seed = rate, seed, seed
			var err error
			if s.data, err = clean.withNoise(s.program, &c.Data); err != nil {
				return nil, err
			}
			for _, mil := range e.mils() {
				c.Net.MIL = mil
				some, err := e.arm(ctx, s, c)
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
func (e *experiment) arm(ctx context.Context, s *session, c config) ([]report.Run, error) {
	group := filepath.Join(e.runDir, fmt.Sprintf("noise-%g", 100*c.Data.Noise), fmt.Sprintf("seed-%d", c.Train.Seed))
	var runs []report.Run
	first := ""
	for _, name := range e.needed() {
		c.Arm = name
		arm, err := name.trained(c.Net.MIL)
		if err != nil {
			return nil, err
		}
		dir, from := filepath.Join(group, arm.Name), ""
		if arm.Stage == 2 {
			from = filepath.Join(first, train.LastName)
		} else {
			first = dir
		}
		o, reused, err := s.arm(c, dir, from).run(ctx)
		if err != nil {
			return nil, err
		}
		s.program.log.Info("arm done", "dir", dir, "reused", reused, "seconds", o.Seconds)
		if reused {
			s.program.note("%s is complete: not run again", dir)
		}
		if slices.Contains(e.arms, name) {
			page, err := o.page(&c, dir)
			if err != nil {
				return nil, err
			}
			runs = append(runs, *page)
		}
	}
	return runs, nil
}

// withNoise returns the same data with the label noise of a configuration.
func (d *dataSets) withNoise(p *program, c *dataConfig) (*dataSets, error) {
	noisy := *d
	noisy.train, noisy.noise = d.clean, 0
	if err := noisy.injectNoise(p, c); err != nil {
		if errors.Is(err, loader.ErrAnnotations) {
			return nil, err
		}
		return nil, usageError{err}
	}
	return &noisy, nil
}

// show writes the table to the folder in all formats, and to standard output.
func (e *experiment) show(p *program, runs []report.Run) error {
	tables, err := e.tables(runs)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		format report.Format
		name   string
	}{{report.Markdown, "table.md"}, {report.CSV, "table.csv"}, {report.JSON, "table.json"}} {
		of := tables
		if file.format == report.CSV {
			of = tables[:1] // one header
		}
		var b bytes.Buffer
		if err := report.Write(&b, file.format, of...); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(e.runDir, file.name), b.Bytes()); err != nil {
			return err
		}
	}
	switch e.format {
	case report.Text:
		for _, t := range tables {
			narrow(t)
		}
		if err := report.Write(p.out, report.Text, tables...); err != nil {
			return err
		}
		_, err = fmt.Fprint(p.out, "\n"+e.explain()+"\n")
		return err
	case report.CSV:
		tables = tables[:1]
	}
	return report.Write(p.out, e.format, tables...)
}

func (e *experiment) tables(runs []report.Run) ([]*report.Table, error) {
	table, err := report.ExperimentTable(runs)
	if err != nil {
		return nil, err
	}
	tables := []*report.Table{table}
	paired, err := report.PairedTable(runs)
	if err != nil {
		return nil, err
	}
	if len(e.seeds) > 1 && len(paired.Rows) > 0 {
		tables = append(tables, paired)
	}
	if e.config.Data.Set == dataCaptions {
		paper, err := report.PaperTable(runs)
		if err != nil {
			return nil, err
		}
		tables = append(tables, paper)
	}
	return tables, nil
}

// narrowColumns are those of the experiment's tables that a terminal shows; files have all.
var narrowColumns = []string{"noise", "arm", "seeds", "ahead in AP", "AP (truth)", "human AP", "OF1", "CF1", "Brier", "q01 error", "q10 error"}

// narrow leaves out what does not fit a terminal. Tables of other kinds stay as they are.
func narrow(t *report.Table) {
	keep := func(name string) bool { return slices.Contains(narrowColumns, strings.TrimPrefix(name, "Δ ")) }
	if !slices.ContainsFunc(t.Columns, func(c report.Column) bool { return c.Name == "seeds" }) {
		return
	}
	known := slices.ContainsFunc(t.Columns, func(c report.Column) bool { return strings.HasSuffix(c.Name, "AP (truth)") })
	var columns []report.Column
	var at []int
	for i, c := range t.Columns {
		if keep(c.Name) || !known && strings.HasSuffix(c.Name, "mAP (labels)") {
			columns, at = append(columns, c), append(at, i)
		}
	}
	for r := range t.Rows {
		cells := make([]report.Cell, len(at))
		for j, i := range at {
			cells[j] = t.Rows[r].Cells[i]
		}
		t.Rows[r].Cells = cells
	}
	t.Columns = columns
}

// explain says what the rows are and what they were measured on.
func (e *experiment) explain() string {
	t := &e.config.Train
	lines := []string{"What the rows are:"}
	row := map[armName]string{
		armStage1: fmt.Sprintf("  stage 1  the classifier alone on the noisy labels, %d epochs", t.Stage1Epochs),
		armStar:   fmt.Sprintf("  star     %d more epochs of the same: the fair baseline", t.Stage2Epochs),
		armFI:     fmt.Sprintf("  NMN-FI   %d more epochs with a noise model that is the same for all pictures", t.Stage2Epochs),
		armFD:     fmt.Sprintf("  NMN-FD   %d more epochs with a noise model that sees each picture's features", t.Stage2Epochs),
	}
	for _, a := range arms() {
		if slices.Contains(e.arms, a) {
			lines = append(lines, row[a])
		}
	}
	if e.config.Data.Set == dataScenes {
		lines = append(lines,
			fmt.Sprintf("Trained on %d pictures whose labels come from captions, a share of them replaced by those of", e.config.Data.TrainSize),
			fmt.Sprintf("other pictures. Measured on %d other pictures: AP (truth), F1 and Brier against what they really show,", e.config.Data.TestSize),
			"human AP against what people would say. No arm has seen a true label.")
	}
	if slices.ContainsFunc(e.arms, func(a armName) bool { return a == armFI || a == armFD }) && e.config.Rates == "" && len(t.Noise.MissRate) == 1 {
		start := fmt.Sprintf("The noise models start at rates of %g (missing) and %g (incorrect)", t.Noise.MissRate[0], t.Noise.FalseRate[0])
		if e.config.Preset == presetScenes && slices.Equal(t.Noise.MissRate, train.ScenesPreset().Noise.MissRate) {
			start += ": an informed start, close to the true mean\nrates at 40 % noise. Other data need a start of their own (--miss-rate, --false-rate, --rates)"
		}
		lines = append(lines, start+".")
	}
	if len(e.seeds) == 1 {
		lines = append(lines, "One seed: differences of about a point may be chance; --seeds 1,2,3 tells more.")
	}
	lines = append(lines, fmt.Sprintf("All measures: %s. Each run has a page: %s.",
		filepath.Join(e.runDir, "table.md"), filepath.Join(e.runDir, "*", "*", "*", "report.md")))
	return strings.Join(lines, "\n")
}
