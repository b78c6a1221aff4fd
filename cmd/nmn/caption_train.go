package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/eval/caption"
	"nmn/internal/durable"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// captionTrain are the flags of nmn caption train.
type captionTrain struct {
	config captionConfig
	runDir string
	resume string
	dryRun bool
	print  bool
	asJSON bool
}

func newCaptionTrain(p *program) *cobra.Command {
	t := captionTrain{config: captionBase(captionSmall), runDir: filepath.Join("runs", "captions")}
	cmd := &cobra.Command{
		Use:   "train --features FILE --captions FILE",
		Short: "Train a captioner on features of frames",
		Long: `Train S2VT, which sees the features of a clip's frames one after another and then says a
caption word by word, on captions of people. Features are those that nmn extract writes,
such as the concept probabilities of every frame, and stay on disk. Training ends early where
CIDEr-D on clips that were held out rises no more. The run folder holds config.yaml, words.txt
(the vocabulary), log.jsonl, summary.csv, last.safetensors, best.safetensors and result.json.
An interrupt saves first; --resume goes on as if nothing had happened. Defaults are those of
--preset small. See docs/captions.md.`,
		Example: `  nmn caption train --features p.npy --clips clips.csv --captions train_val_annotation.zip \
    --val-features v.npy --val-clips v.csv --preset paper --run-dir runs/captions
  nmn caption train --features x.safetensors --clips clips.csv --captions captions.json
  nmn caption train --resume runs/captions`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, p) },
	}
	c := under(cmd, "Configuration")
	enum(c, &t.config.Preset, "preset", "`settings` to start from; paper has the sizes of section 4.4", captionPresets()...)
	c.bool(&t.print, "print-config", "print the resolved configuration and stop")
	t.config.flags(cmd)
	r := under(cmd, "Run")
	r.directory(&t.runDir, "run-dir", "`folder` of the run")
	r.directory(&t.resume, "resume", "`folder` of a run to go on with; its configuration is taken from there")
	r.bool(&t.dryRun, "dry-run", "read everything, make a few steps, print the plan and stop")
	r.bool(&t.asJSON, "json", "write the result as JSON")
	return cmd
}

func (t *captionTrain) run(cmd *cobra.Command, p *program) (err error) {
	if err := t.resolve(cmd); err != nil {
		return err
	}
	if t.print {
		content, err := t.config.yaml()
		if err == nil {
			_, err = p.out.Write(content)
		}
		return err
	}
	if err := t.check(cmd); err != nil {
		return err
	}
	r := &captionRun{program: p, config: t.config, dir: t.runDir, title: "captioner"}
	defer func() { err = cmp.Or(err, r.closeData()) }()
	if err := r.openData(); err != nil {
		return err
	}
	run := t.config.run()
	if r.backend, err = p.openDevice(&run); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, r.backend.Close()) }()
	if t.dryRun {
		return r.plan(cmd.Context())
	}
	return t.train(cmd.Context(), r)
}

func (t *captionTrain) train(ctx context.Context, r *captionRun) error {
	if t.resume == "" && durable.Exists(filepath.Join(t.runDir, train.LastName)) && !durable.Exists(filepath.Join(t.runDir, run.ResultFile)) {
		return usagef("%s holds a run that was interrupted: go on with --resume %s, or name another --run-dir", t.runDir, t.runDir)
	}
	o, reused, err := r.run(ctx)
	if errors.Is(err, run.ErrInterrupted) {
		return fmt.Errorf("%w; go on with: nmn caption train --resume %s", err, t.runDir)
	}
	if err != nil {
		return err
	}
	if reused {
		r.program.note("%s is complete: nothing was run again", t.runDir)
	}
	if t.asJSON {
		return writeJSON(r.program.out, o)
	}
	fmt.Fprintf(r.program.out, "%s: %d steps, %d epochs, loss %.4f, %d words, %d captions of %d clips\n",
		filepath.Join(t.runDir, o.Checkpoint), o.Steps, o.Epochs, o.Loss, o.Words, o.Captions, o.Clips)
	if o.Validation == nil {
		return nil
	}
	return report.Write(r.program.out, report.Text, report.CaptionScores("Validation", *o.Validation, r.validation.Clips(), caption.NewMeteor().Modules()))
}

// resolve makes the configuration: that of the preset, or of the folder that is resumed, with the flags that
// were given over it.
func (t *captionTrain) resolve(cmd *cobra.Command) error {
	given := givenFlags(cmd.Flags())
	if t.resume != "" {
		if cmd.Flags().Changed("run-dir") || cmd.Flags().Changed("preset") {
			return usagef("caption train: --resume takes folder and configuration from the run: leave out --run-dir and --preset")
		}
		there, err := readCaptionConfig(t.resume)
		if err != nil {
			return err
		}
		t.runDir, t.config = t.resume, *there
	} else {
		t.config = captionBase(t.config.Preset)
	}
	return setAgain(cmd.Flags(), given)
}

func (t *captionTrain) check(cmd *cobra.Command) error {
	if err := needFiles(cmd, "features", "captions"); err != nil && t.resume == "" {
		return err
	}
	d := &t.config.Data
	if d.Validation.Features == "" && (d.Validation.Clips != "" || d.Validation.IDs != "" || d.Validation.Captions != "") {
		return usagef("caption train: --val-clips, --val-ids and --val-captions belong to --val-features: give it too")
	}
	return t.config.validate()
}
