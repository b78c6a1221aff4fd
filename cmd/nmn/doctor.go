package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/loader/dataset"
	"nmn/loader/doctor"
	"nmn/recipe"
	"nmn/run"
)

// doctorCommand are the flags of nmn doctor beside the configuration, which is that of nmn train.
type doctorCommand struct {
	config  run.Config
	sources sources
	sample  int
	noSteps bool
	output  string
	asJSON  bool
}

func newDoctor(p *program) *cobra.Command {
	d := doctorCommand{config: run.DefaultConfig()}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at a data set before anything is trained on it",
		Long: `Look at a data set as nmn train would take it, with the same flags, and tell what is
wrong with it: pictures that cannot be decoded, exact copies within and across splits,
identifiers and captions in two splits, labels on no bag or on all, bags without labels,
features that are missing, constant or on different scales. Every finding has a weight
(error: a run would fail; warning; note) and says what to do. A few steps of training then
tell the time and memory of a run. The exit code is 1 where a run would fail. Nothing is
written but --output. See docs/doctor.md.`,
		Example: `  nmn doctor --captions captions_train2014.json --images train2014 --sample 2000
  nmn doctor --features x.npy --labels y.npy --json
  nmn doctor --config runs/mine/config.yaml --output doctor.json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd, p) },
	}
	sourceFlags(cmd, &d.sources, run.Quick, run.Full)
	look := under(cmd, "Look")
	look.int(&d.sample, "sample", "`pictures` of each split that are decoded, drawn by --data-seed; 0 for all. All are read and compared")
	look.bool(&d.noSteps, "no-steps", "make no steps of training: tell nothing of time and memory")
	look.file(&d.output, "output", "`file` to write the report to, as JSON", "json")
	look.bool(&d.asJSON, "json", "write the report as JSON")
	arm := under(cmd, "Arm")
	enum(arm, &d.config.Arm, "arm", "what would be `trained`", recipe.Names()...)
	arm.bool(&d.config.Net.MIL, "mil", "make every cell of the score map an instance, joined by noisy-or")
	dataFlags(cmd, &d.config)
	featureDataFlags(cmd, &d.config, true)
	netFlags(cmd, &d.config)
	trainFlags(cmd, &d.config)
	runFlags(cmd, &d.config.Run)
	return cmd
}

// doctorReport is what nmn doctor tells machines.
type doctorReport struct {
	Data dataset.Kind `json:"data"`
	*doctor.Report
	Plan *runPlan `json:"plan,omitempty"` // nil where no steps were made
}

func (d *doctorCommand) run(cmd *cobra.Command, p *program) error {
	if d.sample < 0 {
		return usagef("doctor: --sample is %d, want at least 0", d.sample)
	}
	if err := d.sources.resolve(cmd.Flags(), &d.config); err != nil {
		return err
	}
	if d.sources.print {
		return printConfig(p, &d.config)
	}
	report, err := d.examine(cmd.Context(), p)
	if err != nil {
		return err
	}
	if err := d.tell(p, report); err != nil {
		return err
	}
	if n := doctor.Count(report.Findings, doctor.Error); n > 0 {
		return fmt.Errorf("doctor: a run would fail, for %d of the findings: see their cures", n)
	}
	return nil
}

// examine opens the data and looks at it. Data that cannot be opened is a finding, not a failure of the look.
func (d *doctorCommand) examine(ctx context.Context, p *program) (*doctorReport, error) {
	left := &leftOut{next: p.log.Handler()}
	data, err := d.open(ctx, p, left)
	if interrupted := ctx.Err(); interrupted != nil {
		return nil, interrupted
	}
	report := &doctorReport{Data: d.config.Data.Set, Report: &doctor.Report{Findings: []doctor.Finding{}}}
	if err != nil {
		report.Findings = append(report.Findings, failure("unreadable-data", "the data cannot be opened", err))
		return report, nil
	}
	defer func() { _ = data.Close() }() // it was only read
	report.Report, err = doctor.Examine(ctx, splitsOf(data), d.options(p, data))
	p.status.clear()
	if err != nil {
		return nil, err
	}
	report.Findings = append(report.Findings, left.findings(&d.config.Data)...)
	if !d.noSteps && doctor.Count(report.Findings, doctor.Error) == 0 {
		if report.Plan, err = d.plan(ctx, p, data); err != nil {
			if interrupted := ctx.Err(); interrupted != nil {
				return nil, interrupted
			}
			report.Findings = append(report.Findings, failure("no-run", "a run does not begin", err))
		}
	}
	doctor.Sort(report.Findings)
	return report, nil
}

// failure is the finding that an error stops a run. The messages of nmn say what to do themselves.
func failure(kind, what string, err error) doctor.Finding {
	return doctor.Finding{Weight: doctor.Error, Kind: kind, Text: what + ": " + oneLine(err), Cure: "as the message says; nmn train would stop with it"}
}

// open opens the data more leniently than a run does, so that everything can be looked at: what a run would
// refuse is then found there.
func (d *doctorCommand) open(ctx context.Context, p *program, left *leftOut) (*dataset.Splits, error) {
	lenient := d.config
	lenient.Data.MaxBadSamples, lenient.Run.LabelMemory = math.MaxInt32, dataset.HoldAll
	lenient.Data.Features.Missing = dataset.MissingMean
	data, err := lenient.OpenData(ctx, left.logger())
	d.config.Data.ManifestOfClips = lenient.Data.ManifestOfClips
	return data, err
}

// splitsOf are the splits as they are learned.
func splitsOf(data *dataset.Splits) []doctor.Split {
	splits := []doctor.Split{{Name: "train", Set: data.Train}}
	if data.Validation != nil {
		splits = append(splits, doctor.Split{Name: "validation", Set: data.Validation})
	}
	if data.Test != nil {
		splits = append(splits, doctor.Split{Name: "test", Set: data.Test})
	}
	return splits
}

func (d *doctorCommand) options(p *program, data *dataset.Splits) doctor.Options {
	c := &d.config
	workers := c.Run.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	o := doctor.Options{
		Sample: d.sample, Seed: c.Data.Seed, Workers: workers, MaxPixels: c.Data.MaxPixels, MaxBadSamples: c.Data.MaxBadSamples,
		Missing: c.Data.Features.Missing == dataset.MissingMean, Standardise: c.Data.Features.Standardise, Progress: d.progress(p),
	}
	if data.Train.Vectors == nil {
		o.InputSize = c.Net.Model(1, 0, "").Size
	}
	return o
}

// progress shows a person at a terminal how far the look is.
func (d *doctorCommand) progress(p *program) func(doctor.Progress) {
	show := p.lines()
	if show == nil {
		return nil
	}
	return func(now doctor.Progress) {
		show(now.Done >= now.Total, func(since time.Duration) string { return doctorLine(now, since) })
	}
}

// doctorLine tells how far the look is; the time that is left is that of what was seen so far.
func doctorLine(now doctor.Progress, since time.Duration) string {
	return fmt.Sprintf("%s: %d %%, %s left, %d of %d", now.Pass, 100*now.Done/max(now.Total, 1), timeLeft(since, now.Done, now.Total-now.Done), now.Done, now.Total)
}

// tell writes the report to where it was asked for.
func (d *doctorCommand) tell(p *program, report *doctorReport) error {
	if d.output != "" {
		content, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			err = durable.WriteFile(d.output, append(content, '\n'), 0o666)
		}
		if err != nil {
			return fmt.Errorf("doctor: cannot write the report: %w", err)
		}
	}
	if d.asJSON {
		return writeJSON(p.out, report)
	}
	return report.write(p)
}

// plan makes a few steps of each arm that a run trains.
func (d *doctorCommand) plan(ctx context.Context, p *program, data *dataset.Splits) (plan *runPlan, err error) {
	c := d.config
	if err := c.ValidateLoss(); err != nil {
		return nil, err
	}
	backend, err := p.openDevice(&c.Run)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, backend.Close()) }()
	if err := c.StartRates(data); err != nil {
		return nil, err
	}
	s := &run.Session{Config: c, Backend: backend, Data: data, Log: p.log, Observe: run.Observer{Message: p.tell}}
	if err := s.Standardise(ctx); err != nil {
		return nil, err
	}
	if why := s.Config.Settle(data); why != "" {
		s.Tell(run.Message{Topic: "recipe", Text: "paper: " + why})
	}
	c = s.Config
	settings := c.Settings()
	if err := settings.Fits(data); err != nil {
		return nil, err
	}
	s, err = s.With(ctx, c)
	if err != nil {
		return nil, err
	}
	plan = &runPlan{Device: backend.Name(), Recipe: settings.Cost([]recipe.Name{c.Arm})}
	arms, err := c.PlannedArms()
	if err != nil {
		return nil, err
	}
	for _, arm := range arms {
		m, err := s.Measure(ctx, arm)
		if err != nil {
			return nil, err
		}
		plan.add(arm.Name, m)
	}
	return plan, nil
}
