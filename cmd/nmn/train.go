package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/kernels"
	"nmn/report"
	"nmn/train"
)

// trainCommand are the flags of nmn train beside the configuration.
type trainCommand struct {
	config  config
	sources sources
	runDir  string
	resume  string
	metrics string
	dryRun  bool
	asJSON  bool
}

func newTrain(p *program) *cobra.Command {
	t := trainCommand{config: defaultConfig(), runDir: filepath.Join("runs", "train"), metrics: p.getenv(metricsVariable)}
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train one arm: stage 1, then a noise model on top of it",
		Long: `Train one arm of the paper: stage 1, the classifier alone on the noisy labels, and from
there stage 2, with a noise model or, for the baseline called star, without. The noise
model starts somewhere and learns with the net, as in the paper, or with --nmn-recipe
estimate it is estimated before and held. Data are the built-in scenes, pictures with COCO
captions or with labels in a manifest, clips in shards, or features. The run folder holds
the configuration, log.jsonl, summary.csv, checkpoints, q.csv, report.md and report.html;
the table of the evaluation goes to standard output. An interrupt saves first; --resume goes
on as if nothing had happened.
Defaults are those of --preset scenes.`,
		Example: `  nmn train --arm nmn-fd --noise 0.4 --run-dir runs/fd
  nmn train --arm star --mil --size full --run-dir runs/star-mil
  nmn train --captions captions_train2014.json --images train2014 --vocab vocab.txt \
    --val-captions captions_val2014.json --val-images val2014 --init vgg16.pth
  nmn train --manifest pictures.csv --init vgg16.pth --run-dir runs/mine
  nmn train --clips train/ --val-clips val/ --mil --run-dir runs/clips
  nmn train --resume runs/fd`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, p) },
	}
	sourceFlags(cmd, &t.sources, sizeQuick, sizeFull)
	arm := under(cmd, "Arm")
	enum(arm, &t.config.Arm, "arm", "what is `trained`", armNames()...)
	arm.set.Var(noiseModelFlag{&t.config.Arm}, "noise-model", "the same by the noise `model` of stage 2: none (star), fi or fd")
	arm.keep("noise-model")
	_ = cmd.RegisterFlagCompletionFunc("noise-model", cobra.FixedCompletions([]string{"none", "fi", "fd"}, cobra.ShellCompDirectiveNoFileComp))
	arm.bool(&t.config.Net.MIL, "mil", "make every cell of the score map an instance, joined by noisy-or")
	arm.file(&t.config.Stage1, "stage1", "`checkpoint` of stage 1 to start from, instead of training it", "safetensors")
	dataFlags(cmd, &t.config)
	featureDataFlags(cmd, &t.config, true)
	netFlags(cmd, &t.config)
	trainFlags(cmd, &t.config)
	runFlags(cmd, &t.config.Run)
	r := under(cmd, "Run")
	r.directory(&t.runDir, "run-dir", "`folder` of the run")
	r.directory(&t.resume, "resume", "`folder` of a run to go on with; its configuration is taken from there")
	metricsFlag(r, &t.metrics)
	r.bool(&t.dryRun, "dry-run", "build everything, make a few steps, print the plan and stop")
	r.bool(&t.asJSON, "json", "write the result as JSON")
	return cmd
}

func (t *trainCommand) run(cmd *cobra.Command, p *program) (err error) {
	if err := t.resolve(cmd); err != nil {
		return err
	}
	if t.sources.print {
		return printConfig(p, &t.config)
	}
	ctx := cmd.Context()
	s, err := openSession(ctx, p, &t.config, t.metrics)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	tellOneSided(p, s.data)
	if err := standardise(ctx, p, s.data, &t.config.Data); err != nil {
		return err
	}
	tellSettled(p, &t.config, s.data)
	if t.dryRun {
		return dryRun(ctx, p, &t.config, s)
	}
	settings := t.config.settings()
	if err := settings.fits(s.data); err != nil {
		return err
	}
	t.config.tellStart(p)
	tellCost(p, &t.config, t.config.Arm)
	o, err := t.stages(ctx, s)
	if errors.Is(err, errInterrupted) {
		return fmt.Errorf("%w; go on with: nmn train --resume %s", err, t.runDir)
	}
	if err != nil {
		return err
	}
	p.note("run     %s", t.runDir)
	return t.show(p, o)
}

// resolve makes the configuration, that of the run folder where a run is resumed.
func (t *trainCommand) resolve(cmd *cobra.Command) error {
	file := t.sources.file
	if t.resume != "" {
		if cmd.Flags().Changed("run-dir") || file != "" {
			return usagef("train: --resume takes folder and configuration from the run: leave out --run-dir and --config")
		}
		t.runDir, file = t.resume, filepath.Join(t.resume, configName)
	}
	if err := (layers{preset: t.sources.preset, size: t.sources.size, file: file, flags: cmd.Flags()}).apply(&t.config); err != nil {
		return err
	}
	if err := t.config.validateLoss(); err != nil {
		return usageError{err}
	}
	return nil
}

// tellStart says where a large network starts from nothing: it needs far more pictures and time then.
func (c *config) tellStart(p *program) {
	if c.Net.Arch == netVGG16 && c.Net.Weights == "" && c.Stage1 == "" && !p.quiet {
		fmt.Fprintln(p.status, "vgg16 starts from random weights; --init FILE starts from those of ImageNet")
	}
}

// stages trains stage 1 where it is needed, and then the arm.
func (t *trainCommand) stages(ctx context.Context, s *session) (*outcome, error) {
	arm, err := t.config.Arm.trained(t.config.Net.MIL)
	if err != nil {
		return nil, err
	}
	if s, err = s.at(ctx, &t.config); err != nil {
		return nil, err
	}
	from := t.config.Stage1
	found := s.recipe(t.config, filepath.Join(t.runDir, recipeName))
	switch {
	case arm.Stage == 1 && from != "":
		return nil, usagef("train: --stage1 is for arms of stage 2; %s trains a net from its start", t.config.Arm)
	case arm.Stage == 2 && from == "" || t.config.Arm == armForward && t.config.Rates == ratesOnline:
		first := filepath.Join(t.runDir, stage1Name)
		if err := t.firstStage(ctx, s, first, found); err != nil {
			return nil, err
		}
		if arm.Stage == 2 {
			from = filepath.Join(first, train.LastName)
		}
	}
	if t.resume == "" && exists(filepath.Join(t.runDir, train.LastName)) {
		if o, err := readOutcome(t.runDir); err != nil || o == nil {
			return nil, firstError(err, usagef("%s holds a run that was interrupted: go on with --resume %s, or name another --run-dir", t.runDir, t.runDir))
		}
	}
	o, reused, err := s.arm(t.config, t.runDir, from, found).run(ctx)
	if reused {
		s.program.note("%s is complete: nothing was run again", t.runDir)
	}
	return o, err
}

// firstStage trains stage 1. Where stage 2 has begun, stage 1 is over whatever its limits are.
func (t *trainCommand) firstStage(ctx context.Context, s *session, dir string, r *recipe) error {
	if err := prepareFolder(t.runDir, &t.config); err != nil {
		return err
	}
	if exists(filepath.Join(t.runDir, train.LastName)) {
		return nil
	}
	first := t.config
	first.Arm = armStage1
	_, _, err := s.arm(first, dir, "", r).run(ctx)
	return err
}

func (t *trainCommand) show(p *program, o *outcome) error {
	if t.asJSON {
		return writeJSON(p.out, o)
	}
	fmt.Fprintf(p.out, "%s, %d steps, on the %s split\n\n", o.Arm.title(o.MIL), o.Steps, o.Split)
	return report.Write(p.out, report.Text, report.EvaluationTables(o.Evaluation)...)
}

// session is what all runs of a command share: a device, data, and who watches.
type session struct {
	program *program
	backend kernels.Backend
	data    *dataSets
	watch   *watch
}

// openSession opens device and data and tells about them.
func openSession(ctx context.Context, p *program, c *config, metrics string) (*session, error) {
	backend, err := openDevice(p, &c.Run)
	if err != nil {
		return nil, err
	}
	s := &session{program: p, backend: backend}
	// Reading data may take minutes: who asks for metrics, or whether the program is up, gets an answer.
	if s.watch, err = openWatch(ctx, p, metrics); err == nil {
		s.data, err = c.openData(ctx, p.log)
	}
	if err == nil {
		err = s.data.startRates(c)
	}
	if err != nil {
		return nil, firstError(err, s.close())
	}
	p.note("%s", s.data.describe())
	return s, nil
}

// openDevice opens the device of a configuration and sets the precision there to that of the device.
func openDevice(p *program, r *runConfig) (kernels.Backend, error) {
	backend, note, err := kernels.Open(kernels.Config{Device: r.Device, Threads: r.Threads, Precision: r.Precision,
		ConvExact: r.ConvExact, SyncLaunches: r.SyncLaunches, NoGraphs: r.NoGraphs, NVTX: r.NVTX, Logger: p.log})
	switch {
	case errors.Is(err, kernels.ErrUnsupported):
		return nil, err
	case err != nil:
		return nil, usageError{err}
	}
	r.Precision = backend.Precision()
	p.log.Info("device", "name", backend.Name(), "precision", r.Precision, "note", note)
	switch {
	case note == "":
		p.note("device  %s", backend.Name())
	case kernels.HasCUDA && !p.quiet: // who has such a build has a card, and wants to know that it idles
		fmt.Fprintf(p.status, "device  %s (%s)\n", backend.Name(), note)
	default:
		p.note("device  %s (%s)", backend.Name(), note)
	}
	return backend, nil
}

func (s *session) close() error {
	var err error
	if s.watch != nil {
		err = s.watch.close()
	}
	if s.data != nil {
		err = firstError(err, s.data.Close())
	}
	return firstError(err, s.backend.Close())
}

func (s *session) arm(c config, dir, from string, r *recipe) *armRun {
	return &armRun{program: s.program, config: c, data: s.data, backend: s.backend, dir: dir, from: from, watch: s.watch, recipe: r}
}

// recipe of a group of arms with its folder; nil for the paper's plain form.
func (s *session) recipe(c config, dir string) *recipe {
	return newRecipe(recipeOptions{settings: c.settings(), data: s.data, dir: dir, trainer: s.arm(c, dir, "", nil), log: s.program.log,
		message: func(topic, text string) {
			if !s.program.quiet {
				fmt.Fprintf(s.program.status, "%-8s%s\n", topic, text)
			}
		}})
}
