package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// trainCommand are the flags of nmn train beside the configuration.
type trainCommand struct {
	config  run.Config
	sources sources
	runDir  string
	resume  string
	metrics metricsOptions
	goOn    bool
	dryRun  bool
	// findingRate asks for a learning rate in the place of a run.
	findingRate bool
	asJSON      bool
}

func newTrain(p *program) *cobra.Command {
	t := trainCommand{config: run.DefaultConfig(), runDir: filepath.Join("runs", "train"),
		metrics: newMetricsOptions(p)}
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train one arm: stage 1, then a noise model on top of it",
		Long: `Train one arm of the paper: stage 1, the classifier alone on the noisy labels, and from
there stage 2, with a noise model or, for the baseline called star, without. The noise
model starts somewhere and learns with the net, as in the paper, or with --nmn-recipe
estimate it is estimated before and held. Data are the built-in scenes, pictures with COCO
captions or with labels in a manifest, clips in shards, or features. The run folder holds
the configuration, log.jsonl, summary.csv, checkpoints, q.csv, report.md and report.html;
the table of the evaluation goes to standard output. An interrupt saves first; --resume
FOLDER goes on as if nothing had happened, and so does the same command with --continue.
Defaults are those of the data without --preset, in quick size where nothing else is said;
--print-config shows all that would hold.`,
		Example: `  nmn train --arm nmn-fd --noise 0.4 --run-dir runs/fd
  nmn train --arm star --mil --size full --run-dir runs/star-mil
  nmn train --captions captions_train2014.json --images train2014 --vocab vocab.txt \
    --val-captions captions_val2014.json --val-images val2014 --init vgg16.pth
  nmn train --manifest pictures.csv --init vgg16.pth --run-dir runs/mine
  nmn train --manifest pictures.csv --backbone dinov2.safetensors --input-size 224 --run-dir runs/mine
  nmn train --clips train/ --val-clips val/ --mil --run-dir runs/clips
  nmn train --arm star --optimizer adamw --weight-decay 0.01 --ema 0.999 --find-learning-rate
  nmn train --resume runs/fd`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, p) },
	}
	sourceFlags(cmd, &t.sources, run.Quick, run.Full)
	arm := under(cmd, "Arm")
	enum(arm, &t.config.Arm, "arm", "what is `trained`", recipe.Names()...)
	arm.set.Var(noiseModelFlag{&t.config.Arm}, "noise-model",
		"the same by the noise `model` of stage 2: none (star), fi or fd")
	arm.keepAlias("noise-model", &t.config.Arm)
	arm.completes("noise-model", "none", "fi", "fd")
	arm.bool(&t.config.Net.MIL, "mil", "make every cell of the score map an instance, joined by noisy-or; with "+
		"--backbone every frame of a clip")
	arm.file(&t.config.Stage1, "stage1", "`checkpoint` of stage 1 to start from, instead of training it", "safetensors")
	dataFlags(cmd, &t.config)
	featureDataFlags(cmd, &t.config, true)
	netFlags(cmd, &t.config)
	trainFlags(cmd, &t.config)
	runFlags(cmd, &t.config.Run)
	r := under(cmd, "Run")
	r.directory(&t.runDir, "run-dir", "`folder` of the run")
	r.directory(&t.resume, "resume", "`folder` of a run to go on with; its configuration is taken from there")
	r.bool(&t.goOn, "continue", "go on with the run in the folder where it was interrupted, and begin it where there is "+
		"none: the same command for every start, as schedulers give it")
	metricsFlags(r, &t.metrics)
	r.bool(&t.dryRun, "dry-run", "build everything, make a few steps, print the plan and stop")
	r.bool(&t.findingRate, "find-learning-rate", "make steps at rising learning rates, say which one to take, draw the "+
		"losses into --run-dir as "+run.RateSearchFile+" and "+run.RateSearchChart+", and stop: nothing is trained")
	r.bool(&t.asJSON, "json", "write the result as JSON; with --print-config the settings, by their keys")
	ranksFlag(cmd)
	gradientsFlag(cmd, &t.config.Run.Gradients)
	tellDefaults(cmd, &t.config)
	return cmd
}

func (t *trainCommand) run(cmd *cobra.Command, p *program) (err error) {
	folder := cmp.Or(t.resume, t.runDir)
	if err := run.AgreeOn(p.ranks, t.resolve(cmd, folder)); err != nil {
		return err
	}
	if t.sources.print && t.asJSON {
		return printSettings(p, &t.config)
	}
	if t.sources.print {
		return printConfig(p, &t.config)
	}
	ctx := cmd.Context()
	t.metrics.resolve(cmd, p, t.runDir)
	if t.dryRun { // which writes and tells nothing
		t.metrics.push = ""
	}
	s, err := openWatched(ctx, p, t.config, t.metrics, keepsFeatures(p, t.runDir),
		func(o *run.Options) { o.SampleFeatures = t.dryRun })
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	if _, err := s.Prepare(ctx); err != nil {
		return err
	}
	if t.dryRun {
		return dryRun(ctx, p, s.Session)
	}
	if err := s.Fits(); err != nil {
		return err
	}
	if t.findingRate {
		return t.findRate(ctx, p, s.Session)
	}
	tellStart(p, &s.Config)
	learn := s.Train
	if t.resume != "" || t.goOn {
		learn = s.Resume
	}
	o, err := learn(ctx, t.runDir)
	if errors.Is(err, run.ErrInterrupted) {
		return fmt.Errorf("%w; go on with: nmn train --resume %s", err, t.runDir)
	}
	if err != nil {
		return err
	}
	p.note("run     %s", t.runDir)
	return t.show(p, o)
}

// resolve makes the configuration, that of the run folder where a run is resumed.
func (t *trainCommand) resolve(cmd *cobra.Command, folder string) error {
	file := t.sources.file
	if err := t.checkMode(); err != nil {
		return err
	}
	if t.resume != "" {
		if cmd.Flags().Changed("run-dir") || file != "" {
			return usagef(
				"train: --resume takes folder and configuration from the run: leave out --run-dir and --config")
		}
		file = filepath.Join(folder, run.ConfigFile)
	}
	t.sources.file = file
	if err := t.sources.resolve(cmd.Flags(), &t.config); err != nil {
		return err
	}
	t.runDir = folder // after the flags, which have been set once more
	if err := t.config.ValidateLoss(); err != nil {
		return usageError{err}
	}
	if !t.sources.print {
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
	fmt.Fprintf(p.out, "%s, %d steps, on the %s split\n\n", o.Arm.Title(o.MIL), o.Steps, o.Split)
	return report.Write(p.out, report.Text, report.EvaluationTables(o.Evaluation)...)
}
