package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/paper/table4"
	"nmn/report"
	"nmn/run"
)

// table4Command are the flags of nmn experiment table4.
type table4Command struct {
	*table4.Experiment
	settings  settings
	meteorDir string
	format    report.Format
	asJSON    bool
}

func newTable4(p *program) *cobra.Command {
	t := table4Command{settings: settingsOf(&session.Config{}), Experiment: table4.New(filepath.Join("runs", "table4")),
		format: report.Text}
	cmd := &cobra.Command{
		Use:   "table4",
		Short: "Caption clips from the concepts of the baseline, NMN-FI and NMN-FD, as in the paper's Table 4",
		Long: `Train the baseline, NMN-FI and NMN-FD with MIL on clips whose labels come from captions, a share of
them replaced; write the concept probabilities of every frame; train a captioner on each, from
the same seeds; and print CIDEr-D, BLEU-4, ROUGE-L and METEOR of their captions in the layout
of the paper's Table 4, beside a captioner that always says the most frequent caption and one
that is given the true concepts. All of it runs on the embedded moving scenes, without a
download; the published figures, of other clips, stand under a heading of their own.
--features takes concept probabilities of your own instead: folders with train.npy, train.csv,
validation.npy, validation.csv and, where there are test clips, test.npy and test.csv, as nmn
extract --per-frame --output and --output-clips write them. What is complete is not run again.`,
		Example: `  nmn experiment table4
  nmn experiment table4 --features baseline=f/plain,fi=f/fi,fd=f/fd --captions train_val_annotation.zip --preset paper`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, p) },
	}
	t.flags(cmd)
	return cmd
}

func (t *table4Command) flags(cmd *cobra.Command) {
	e := under(cmd, "Experiment")
	e.seeds(&t.Seeds, "seeds", "`seeds` of noise, nets and captioners, as n,...")
	e.directory(&t.Dir, "run-dir", "`folder` of everything")
	d, c := under(cmd, "Moving scenes"), &t.Nets
	d.int(&c.Data.TrainSize, "train-size", "`clips` to train on")
	d.int(&c.Data.ValidationSize, "validation-size", "`clips` that end the training of a captioner")
	d.int(&c.Data.TestSize, "test-size", "`clips` that the table is of")
	d.int(&c.Data.Frames, "frames", "`frames` of a clip")
	d.int(&t.PerClip, "captions-per-clip",
		"`captions` of a clip, to learn and to score by; the labels of the nets come from the first five")
	d.float(&c.Data.Noise, "noise", "`share` of the captions behind the labels that is replaced")
	d.int(&c.Train.Stage1Epochs, "stage1-epochs", "`epochs` of the classifier alone")
	d.int(&c.Train.Stage2Epochs, "stage2-epochs", "`epochs` of the baseline, NMN-FI and NMN-FD on top of it")
	f := under(cmd, "Features of your own")
	folders(f, &t.Features, "features",
		"`folders` of concept probabilities instead of those of moving scenes, as name=folder,...")
	f.file(&t.Captions, "captions", "`file` of the captions of their clips, as nmn caption train takes it", "json",
		"jsonl", "csv", "zip", "gz")
	enum(under(cmd, "Captioner"), &t.Captioner.Preset, "preset", "`settings` of the captioners, as of nmn caption train",
		session.Presets()...)
	setFlags(under(cmd, "Captioner"), &t.settings)
	t.settings.addCaptioner(under(cmd, "Captioner"), "epochs", "batch-size", "learning-rate", "partial")
	t.settings.addCaptioner(under(cmd, "Run"), "device", "threads")
	out := under(cmd, "Output")
	out.directory(&t.meteorDir, "meteor-data", "`folder` of METEOR's resource files, as of nmn caption eval")
	enum(out, &t.format, "format", "`format` of the tables on standard output", report.Text, report.Markdown,
		report.CSV, report.JSON)
	out.bool(&t.asJSON, "json", "same as --format json")
}

// folders declares a list of named folders.
func folders(r group, v *[]table4.Features, name, usage string) {
	parse := func(s string) (table4.Features, error) {
		name, folder, found := strings.Cut(s, "=")
		if !found || name == "" || folder == "" || strings.ContainsAny(name, `/\`) {
			return table4.Features{}, errors.New("want name=folder")
		}
		return table4.Features{Name: name, Folder: folder}, nil
	}
	r.set.Var(list[table4.Features]{v, parse, func(f table4.Features) string { return f.Name + "=" + f.Folder }}, name,
		usage)
	r.keep(name)
}

func (t *table4Command) run(cmd *cobra.Command, p *program) (err error) {
	if err := t.resolve(cmd); err != nil {
		return err
	}
	if t.meteorDir != "" {
		t.Meteor, err = metrics.LoadMeteor(t.meteorDir)
		if err != nil {
			return err
		}
	}
	w := &watch{program: p}
	t.Log, t.Observe, t.Captioning, t.Extracted = p.log, w.observer(), p.captionObserver(), showExtracted(p)
	tables, err := t.Run(cmd.Context())
	p.status.clear()
	switch {
	case errors.Is(err, run.ErrInterrupted):
		return fmt.Errorf("%w; the same command goes on", err)
	case err != nil:
		return err
	}
	if t.format == report.CSV {
		tables = tables[:1]
	}
	return report.Write(p.out, t.format, tables...)
}

// resolve lays the flags over the preset of the captioner and checks them all.
func (t *table4Command) resolve(cmd *cobra.Command) (err error) {
	if t.Captioner, err = session.FromPreset(t.Captioner.Preset); err != nil {
		return err
	}
	if err := t.settings.apply(&t.Captioner); err != nil {
		return err
	}
	if t.asJSON {
		t.format = report.JSON
	}
	if len(t.Features) == 0 {
		err = unreadFlags(cmd, "on moving scenes: it goes with --features", "partial")
	} else {
		err = unreadFlags(cmd, "beside --features: it is for moving scenes", "train-size", "validation-size",
			"test-size", "frames", "captions-per-clip", "noise", "stage1-epochs", "stage2-epochs")
	}
	if err != nil {
		return err
	}
	return t.Validate()
}

// showExtracted shows how far the concept probabilities of a split are; nil where nobody looks.
func showExtracted(p *program) func(done, of int) {
	if !p.watched() {
		return nil
	}
	shown := -1
	return func(done, of int) {
		if percent := 100 * done / of; percent != shown {
			shown = percent
			p.draw(stage{Title: "extracted", Done: done, Total: of, Unit: "pictures"},
				fmt.Sprintf("extracted: %d %%, %d of %d pictures", percent, done, of))
		}
		if done == of {
			p.status.clear()
		}
	}
}
