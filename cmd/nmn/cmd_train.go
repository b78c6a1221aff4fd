package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/loader/dataset"
	"nmn/report"
	"nmn/run"
)

// trainCommand are the flags of nmn train beside the configuration.
type trainCommand struct {
	config  run.Config
	sources sources
	runDir  string
	restart bool
	metrics metricsOptions
	dryRun  bool
	// findingRate asks for a learning rate in the place of a run.
	findingRate bool
	asJSON      bool
}

func newTrain(p *program) *cobra.Command {
	t := trainCommand{sources: newSources(), runDir: filepath.Join("runs", "train"),
		metrics: newMetricsOptions(p)}
	cmd := &cobra.Command{
		Use:   "train [DATA]",
		Short: "Train one arm: stage 1, then a noise model on top of it",
		Long: `Train one arm: stage 1, the classifier alone on the noisy labels, and from there stage 2,
with a noise model or, in the arm baseline, without one.

DATA is a folder with a folder of pictures for each label, a folder of clips, a list of
pictures with labels (CSV, JSON lines, COCO, YOLO), a file of captions (with --images), a
file of features (with --labels), or scenes or moving-scenes, which are embedded. What it
is follows from its content. Without DATA it is scenes.

The run folder holds the configuration, the log, checkpoints, noise rates and a page. The
table of the evaluation goes to standard output. An interrupt saves first, and the same
command again goes on as if nothing had happened. A folder with another run is refused;
--config FOLDER/config.yaml takes the settings of a run, and --restart removes it.
Every setting has a key; nmn config lists them with their values, and --set changes any.`,
		Example: `  nmn train pets/ --init vgg16.pth --run-dir runs/pets
  nmn train pictures.csv --backbone dinov2.safetensors --run-dir runs/mine
  nmn train captions.json --images pictures/ --vocab vocab.txt --run-dir runs/captions
  nmn train x.npy --labels y.npy --run-dir runs/head
  nmn train scenes --arm nmn-fd --noise 0.4 --set train.schedule=cosine
  nmn train --config runs/pets/config.yaml --run-dir runs/pets`,
		Args: oneData(p),
		RunE: func(cmd *cobra.Command, args []string) error { return t.run(cmd, p, args) },
	}
	sourceFlags(cmd, &t.sources, run.Quick, run.Full)
	t.sources.addTraining(cmd)
	r := under(cmd, "Run")
	r.directory(&t.runDir, "run-dir", "`folder` of the run")
	r.bool(&t.restart, "restart", "begin again: remove the run that is in the folder")
	metricsFlags(r, &t.metrics)
	r.bool(&t.dryRun, "dry-run", "open everything, say how long a run would take, and stop")
	r.bool(&t.findingRate, "find-learning-rate", "make steps at rising learning rates, say which one to take, draw the "+
		"losses into --run-dir as "+run.LearningRateSearchFile+" and "+run.LearningRateSearchChart+
		", and stop: nothing is trained")
	r.bool(&t.asJSON, "json", "write the result as JSON")
	ranksFlag(cmd)
	return cmd
}

func (t *trainCommand) run(cmd *cobra.Command, p *program, args []string) (err error) {
	if err := run.AgreeOn(p.ranks, t.resolve(cmd.Context(), p, args)); err != nil {
		return err
	}
	ctx := cmd.Context()
	t.metrics.resolve(cmd, p, t.runDir)
	if t.dryRun { // which writes and tells nothing
		t.metrics.push = ""
	}
	o, err := t.trainInFolder(ctx, p)
	if err != nil || o == nil {
		return err
	}
	if err := t.show(p, o); err != nil {
		return err
	}
	t.tellNext(p)
	return nil
}

// trainInFolder trains in the run folder. With --dry-run or --find-learning-rate it does that instead, and the outcome
// is nil.
func (t *trainCommand) trainInFolder(ctx context.Context, p *program) (o *run.Outcome, err error) {
	s, err := openWatched(ctx, p, t.config, t.metrics, keepsFeatures(p, t.runDir),
		func(o *run.Options) { o.SampleFeatures, o.Restart = t.dryRun, t.restart })
	if err != nil {
		return nil, err
	}
	defer func() { err = s.end(err) }()
	if _, err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	if t.dryRun {
		return nil, dryRun(ctx, p, s.Session)
	}
	if err := s.Fits(); err != nil {
		return nil, err
	}
	if t.findingRate {
		return nil, t.findRate(ctx, p, s.Session)
	}
	tellStart(p, &s.Config)
	if o, err = s.Train(ctx, t.runDir); err != nil {
		return nil, goesOn(err, t.restart)
	}
	return o, nil
}

// goesOn is the error of a training that was interrupted, with what goes on with it. Any other error stays what it is.
func goesOn(err error, restarted bool) error {
	if !errors.Is(err, run.ErrInterrupted) {
		return err
	}
	if restarted {
		return fmt.Errorf("%w; the same command without --restart goes on", err)
	}
	return fmt.Errorf("%w; the same command goes on", err)
}

// resolve makes the configuration.
func (t *trainCommand) resolve(ctx context.Context, p *program, args []string) error {
	if err := t.checkMode(); err != nil {
		return err
	}
	if err := t.sources.data(ctx, p, args); err != nil {
		return err
	}
	if err := t.sources.of().Resolve(&t.config); err != nil {
		return err
	}
	if err := t.config.ValidateLoss(); err != nil {
		return usageError{err}
	}
	if !t.restart {
		t.config.KeepBatch(t.runDir)
	}
	return nil
}

// tellStart says where a large network starts from nothing: it needs far more pictures and time then.
func tellStart(p *program, c *run.Config) {
	painted := c.Data.Set == dataset.Scenes || c.Data.Set == dataset.MovingScenes
	large := c.Net.Arch == run.NetVGG16 || c.Net.Arch.IsResNet() && !painted
	if large && c.Net.Weights == "" && c.Stage1 == "" && !p.quiet {
		fmt.Fprintf(p.status, "%s starts from random weights; --init FILE starts from those of ImageNet\n", c.Net.Arch)
	}
}

func (t *trainCommand) show(p *program, o *run.Outcome) error {
	if t.asJSON {
		return writeJSON(p.out, o)
	}
	if o.NotMeasured != "" {
		_, err := fmt.Fprintf(p.out, "%s, %d steps, not measured: %s\n", o.Arm.Title(o.MIL), o.Steps, o.NotMeasured)
		return err
	}
	title := fmt.Sprintf("%s, %d steps, measured on %d held-out %s (%s) with %d %s", o.Arm.Title(o.MIL), o.Steps,
		o.Evaluation.Bags, t.config.Data.Samples(), o.Split, o.Evaluation.Classes, report.ClassNoun(o.Evaluation))
	return report.Write(p.out, report.Text, report.SummaryTable(title, o.Evaluation))
}

// tellNext says where the report is, and what comes next.
func (t *trainCommand) tellNext(p *program) {
	dir, data := argument(t.runDir), &t.config.Data
	p.tell(run.Message{Topic: "report", Text: filepath.Join(t.runDir, report.HTMLFile)})
	next := fmt.Sprintf("nmn predict %s FILES: what is in other %s\n        ", dir, data.Samples())
	if captions := captionCommand(data); captions != "" {
		next += captions + ": which captions are of other " + data.Samples()
	} else {
		next += "nmn audit " + dir + ": which labels are probably wrong"
	}
	p.tell(run.Message{Topic: "next", Text: next})
}

// captionCommand finds captions that belong to other pictures or clips; empty if there is no file of captions.
func captionCommand(data *dataset.Config) string {
	file := cmp.Or(data.Captions, data.MSRVTT)
	if file == "" {
		return ""
	}
	command := fmt.Sprintf("nmn audit captions --captions %s --page captions.html", argument(file))
	if data.Images != "" {
		command += " --images " + argument(data.Images)
	}
	return command
}

// findRate searches for a learning rate and shows what was found.
func (t *trainCommand) findRate(ctx context.Context, p *program, s *run.Session) error {
	found, err := s.FindLearningRate(ctx, t.runDir)
	if err != nil {
		return err
	}
	if t.asJSON {
		return writeJSON(p.out, found)
	}
	_, err = fmt.Fprintf(p.out, "%s%s\n%s\n", withFlags(found.Text()), found.Table, found.Chart)
	return err
}

// checkMode refuses flags that ask for different things.
func (t *trainCommand) checkMode() error {
	if t.findingRate && t.dryRun {
		return usagef("train: --find-learning-rate looks for a rate before a run begins: " +
			"leave out --dry-run")
	}
	return nil
}
