package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/loader/dataset"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

type trainCommand struct {
	*program
	config  run.Config
	sources sources
	runDir  string
	restart bool
	metrics metricsOptions
	dryRun  bool
	asJSON  bool

	outcome *run.Outcome // nil if nothing was trained
}

func newTrain(p *program) *cobra.Command {
	t := &trainCommand{program: p, sources: newSources(), runDir: filepath.Join("runs", "train"),
		metrics: newMetricsOptions(p)}
	cmd := &cobra.Command{
		Use:   "train [DATA]",
		Short: "Train a classifier on noisy labels",
		Long: `Train a classifier on noisy labels: first alone, then with a noise model on top of it.
DATA is a folder, a list of pictures, a file of captions or features, or scenes (built in).`,
		Annotations: details(`DATA is one of these; nmn recognises it by its content:
  - a folder with a folder of pictures for each label, or a folder of clips
  - a list of pictures with labels: CSV, JSON lines, COCO or YOLO
  - a file of captions (with --images), or a file of features (with --labels)
  - scenes or moving-scenes, which are built in; scenes is the default

The run folder holds the configuration, the log, checkpoints, noise rates and report.html.
The table of the evaluation goes to standard output.

If you interrupt a run, it saves first; the same command continues it. A folder with
another run is refused: --restart removes that run. --config FOLDER/config.yaml takes the
settings of a run. nmn config lists all settings; --set changes any of them.`),
		Example: `  nmn train pets/ --init vgg16.pth --run-dir runs/pets
  nmn train captions.json --images pictures/ --run-dir runs/captions
  nmn train scenes --arm nmn-fd --noise 0.4 --set train.schedule=cosine`,
		Args:     oneData(p),
		PreRunE:  t.check,
		RunE:     t.train,
		PostRunE: t.show,
	}
	sourceFlags(cmd, &t.sources, run.Quick, run.Full)
	t.sources.addTraining(cmd)
	r := under(cmd, "Run")
	r.directory(&t.runDir, "run-dir", "write the run to this `folder`")
	r.bool(&t.restart, "restart", "remove the run in the folder and begin again")
	r.bool(&t.dryRun, "dry-run", "check the data, estimate the time and stop")
	r.bool(&t.asJSON, "json", "write the result as JSON")
	metricsFlags(r, &t.metrics)
	ranksFlag(cmd)
	return cmd
}

// check makes the configuration, on all ranks.
func (t *trainCommand) check(cmd *cobra.Command, args []string) error {
	if err := run.AgreeOn(t.ranks, t.resolve(cmd.Context(), args)); err != nil {
		return err
	}
	t.metrics.resolve(cmd, t.program, t.runDir)
	if t.dryRun { // it sends nothing
		t.metrics.push = ""
	}
	return nil
}

// train trains in the run folder. With --dry-run there is no outcome.
func (t *trainCommand) train(cmd *cobra.Command, _ []string) (err error) {
	ctx := cmd.Context()
	s, err := openWatched(ctx, t.program, t.config, t.metrics, keepsFeatures(t.program, t.runDir),
		func(o *run.Options) { o.SampleFeatures, o.Restart = t.dryRun, t.restart })
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	if _, err := s.Prepare(ctx); err != nil {
		return err
	}
	tellStart(t.program, &s.Config)
	if t.dryRun {
		return dryRun(ctx, t.program, s.Session)
	}
	if err := s.Fits(); err != nil {
		return err
	}
	t.config.Data.ManifestOfClips = s.Config.Data.ManifestOfClips
	t.outcome, err = s.Train(ctx, t.runDir)
	return goesOn(err, t.restart)
}

// goesOn adds how to continue to the error of an interrupted training. It returns other errors unchanged.
func goesOn(err error, restarted bool) error {
	if !errors.Is(err, run.ErrInterrupted) {
		return err
	}
	if restarted {
		return fmt.Errorf("%w; run the same command without --restart to continue", err)
	}
	return fmt.Errorf("%w; run the same command again to continue", err)
}

// resolve makes the configuration.
func (t *trainCommand) resolve(ctx context.Context, args []string) error {
	if err := t.sources.data(ctx, t.program, args); err != nil {
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
	if t.dryRun {
		return nil
	}
	return durable.Writable(t.runDir) // before data are read and features are computed
}

// tellStart says what to expect of a network that starts from random weights.
func tellStart(p *program, c *run.Config) {
	large := c.Net.Arch == run.NetVGG16 || c.Net.Arch.IsResNet() && !c.Data.Embedded()
	switch {
	case p.quiet || c.Net.Weights != "" || c.Stage1 != "":
	case large: // it needs far more pictures and time
		fmt.Fprintf(p.status, "%s starts from random weights; --init FILE starts from ImageNet weights\n", c.Net.Arch)
	case c.Net.Arch == run.NetScenes && c.LeftOpen("net.arch"):
		fmt.Fprintf(p.status, "a small network learns from these %s alone; for photographs use --backbone dinov2-small\n",
			c.Data.Samples())
	}
}

// show prints the table of the evaluation, the path of the report and the next commands.
func (t *trainCommand) show(*cobra.Command, []string) error {
	if t.outcome == nil {
		return nil
	}
	if err := t.writeOutcome(t.outcome); err != nil {
		return err
	}
	dir, data := argument(t.runDir), &t.config.Data
	t.message(run.Message{Topic: "report", Text: filepath.Join(t.runDir, report.HTMLFile)})
	next := fmt.Sprintf("nmn predict %s FILES: what is in other %s\n        ", dir, data.Samples())
	if captions := captionCommand(t.runDir, data); captions != "" {
		next += captions + ": which captions belong to other " + data.Samples().String()
	} else {
		next += "nmn audit " + dir + ": which labels are probably wrong"
	}
	t.message(run.Message{Topic: "next", Text: next})
	return nil
}

func (t *trainCommand) writeOutcome(o *run.Outcome) error {
	if t.asJSON {
		return writeJSON(t.out, o)
	}
	if o.NotMeasured != "" {
		_, err := fmt.Fprintf(t.out, "%s, %s, not measured: %s\n", o.Arm.Title(o.MIL), text.Count(o.Steps, "steps"),
			o.NotMeasured)
		return err
	}
	title := fmt.Sprintf("%s, %s, measured on %d held-out %s (%s) with %d %s", o.Arm.Title(o.MIL),
		text.Count(o.Steps, "steps"), o.Evaluation.Bags, t.config.Data.Samples(), o.Split, o.Evaluation.Classes,
		report.ClassNoun(o.Evaluation))
	return report.Write(t.out, report.Text, report.SummaryTable(title, o.Evaluation))
}

// captionCommand returns the command that finds misplaced captions, by the scores of a run if it has some, or an empty
// string without a file of captions.
func captionCommand(dir string, data *dataset.Config) string {
	file := cmp.Or(data.Captions, data.MSRVTT, data.Features.Train.Captions)
	if file == "" {
		return ""
	}
	command := fmt.Sprintf("nmn audit captions %s --page captions.html", argument(file))
	if data.Images != "" {
		command += " --images " + argument(data.Images)
	}
	if scores := run.CaptionScoresFile(dir); durable.Exists(scores) {
		command += " --logits --scores " + argument(scores)
	}
	return command
}
