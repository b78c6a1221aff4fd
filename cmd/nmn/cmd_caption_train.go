package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

type captionTrain struct {
	config   session.Config
	settings settings
	preset   session.Preset
	runDir   string
	restart  bool
	dryRun   bool
	asJSON   bool
}

func newCaptionTrain(p *program) *cobra.Command {
	t := captionTrain{settings: captionerSettings(), preset: session.Small, runDir: filepath.Join("runs", "captions")}
	cmd := &cobra.Command{
		Use:   "train --features FILE --captions FILE",
		Short: "Train a captioner on features of frames",
		Long: `Train the captioner S2VT, which reads the features of a clip frame by frame and then writes a
caption word by word. nmn extract writes the features.`,
		Annotations: details(`Features stay on disk. Training ends early if CIDEr-D on the validation clips stops rising. The
run folder has config.yaml, words.txt (the vocabulary), log.jsonl, last.safetensors,
previous.safetensors, best.safetensors and result.json.

If you interrupt a run, it saves first; the same command continues it. A folder with another run
is refused: --restart removes that run. See docs/guide/captions.md.`),
		Example: `  nmn caption train --features p.npy --clips clips.csv --captions train_val_annotation.zip \
    --val-features v.npy --val-clips v.csv --preset paper --run-dir runs/captions
  nmn caption train --features x.safetensors --clips clips.csv --captions captions.json`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, p) },
	}
	enum(under(cmd, "Configuration"), &t.preset, "preset", "start from these `settings`", session.Presets()...)
	setFlags(under(cmd, "Configuration"), &t.settings)
	t.settings.add(under(cmd, "Clips"), "features", "clips", "captions", "val-features", "val-clips",
		"val-captions", "vocab", "partial")
	t.settings.add(under(cmd, "Training"), "epochs", "batch-size", "learning-rate", "seed")
	t.settings.add(under(cmd, "Run"), "device", "threads")
	r := under(cmd, "Run")
	r.directory(&t.runDir, "run-dir", "write the run to this `folder`")
	r.bool(&t.restart, "restart", "remove the run in the folder and begin again")
	r.bool(&t.dryRun, "dry-run", "check the data, estimate the time and stop")
	r.bool(&t.asJSON, "json", "write the result as JSON")
	return cmd
}

func (t *captionTrain) run(cmd *cobra.Command, p *program) (err error) {
	if err := t.resolve(); err != nil {
		return err
	}
	if d := &t.config.Data.Train; d.Features == "" || d.Captions == "" {
		return usagef("caption train: give --features and --captions")
	}
	s, err := session.Open(cmd.Context(), t.config, session.Options{Log: p.log, Observer: p.captionObserver(),
		Restart: t.restart})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	if t.dryRun {
		return planCaptioner(cmd.Context(), p, s)
	}
	o, err := s.Train(cmd.Context(), t.runDir)
	if err != nil {
		return goesOn(err, t.restart)
	}
	return t.show(p, s, o)
}

func (t *captionTrain) show(p *program, s *session.Session, o *session.Outcome) error {
	if t.asJSON {
		return writeJSON(p.out, o)
	}
	fmt.Fprintf(p.out, "%s: %s, %s, loss %.4f, %s, %s of %s\n",
		filepath.Join(t.runDir, o.Checkpoint), text.Count(o.Steps, "steps"), text.Count(o.Epochs, "epochs"), o.Loss,
		text.Count(o.Words, "words"), text.Count(o.Captions, "captions"), text.Count(o.Clips, "clips"))
	if o.Validation != nil {
		if err := report.Write(p.out, report.Text, report.CaptionScores("Validation", *o.Validation,
			s.Data.Validation.Clips(), metrics.NewMeteor().Modules())); err != nil {
			return err
		}
	}
	p.message(run.Message{Topic: "next", Text: fmt.Sprintf("nmn caption generate %s --features FILE --clips FILE: "+
		"captions of "+
		"other clips", argument(t.runDir))})
	return nil
}

// planCaptioner makes a few steps without saving anything, and prints what training will take.
func planCaptioner(ctx context.Context, p *program, s *session.Session) error {
	c, learned := s.Model(), s.Data.Train
	_, err := fmt.Fprintf(p.out, "device      %s\nclips       %d with %s, up to %s of %s\n"+
		"words       %d and four special tokens\nnet         %.2f M parameters\n",
		s.Backend.Name(), learned.Clips(), text.Count(learned.Pairs(), "captions"), text.Count(c.Frames, "frames"),
		text.Count(c.Features, "features"),
		s.Data.Words.AtLeast(0), c.Parameters()/1e6)
	if err != nil {
		return err
	}
	m, err := s.Measure(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "training    %.0f MiB, %s of %.1f ms: about %v, without validation; nothing was written\n",
		float64(m.Memory)/(1<<20), text.Count(m.Steps, "steps"), m.Step.Seconds()*1e3, m.Total().Round(time.Second))
	if err == nil && !m.Full() {
		_, err = fmt.Fprintf(p.out, "            no full batch of %s: steps of at most %d were timed\n",
			text.Count(m.Batch, "captions"), m.Bags)
	}
	return err
}

// resolve makes the configuration from the preset and the flags.
func (t *captionTrain) resolve() (err error) {
	if t.config, err = session.FromPreset(t.preset); err != nil {
		return err
	}
	if err := t.settings.apply(&t.config); err != nil {
		return err
	}
	return t.config.Validate()
}
