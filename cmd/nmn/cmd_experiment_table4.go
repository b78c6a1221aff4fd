package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/captioner/metrics"
	"nmn/captioner/session"
	"nmn/paper/table4"
)

type table4Command struct {
	*table4.Experiment
	settings  settings
	meteorDir string
	shown     tablesOutput
}

func newTable4(p *program) *cobra.Command {
	t := table4Command{settings: captionerSettings(), Experiment: table4.New(filepath.Join("runs", "table4"))}
	cmd := &cobra.Command{
		Use:   "table4",
		Short: "Compare captions from the concepts of three classifiers (Table 4)",
		Long: `Train the baseline, NMN-FI and NMN-FD on clips, train a captioner on the concepts of each, and
compare the captions as in the paper's Table 4. It runs on the built-in moving scenes.`,
		Annotations: details(`The table has CIDEr-D, BLEU-4, ROUGE-L and METEOR. For comparison it includes a captioner that
always gives the most frequent caption, and a captioner that gets the true concepts. The
published figures, which come from other clips, have their own heading.

--features takes your own concept probabilities instead: folders with train.npy, train.csv,
validation.npy, validation.csv and, if you have test clips, test.npy and test.csv. nmn extract
--per-frame --output --output-clips writes such files. Complete runs are kept.`),
		Example: `  nmn experiment table4
  nmn experiment table4 --features baseline=f/plain,fi=f/fi,fd=f/fd \
    --captions train_val_annotation.zip --preset paper`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd, p) },
	}
	e := under(cmd, "Experiment")
	e.seeds(&t.Seeds, "seeds", "repeat for these `seeds`, as n,...")
	e.directory(&t.Dir, "run-dir", "write everything to this `folder`")
	d, c := under(cmd, "Moving scenes"), &t.Nets
	d.int(&c.Data.TrainSize, "train-size", "train on this many `clips`")
	d.int(&c.Data.ValidationSize, "validation-size", "validate captioners on this many `clips`")
	d.int(&c.Data.TestSize, "test-size", "test on this many `clips`")
	d.int(&c.Data.Frames, "frames", "draw this many `frames` for each clip")
	d.int(&t.PerClip, "captions-per-clip", "write this many `captions` for each clip")
	d.float(&c.Data.Noise, "noise", "replace this `share` of the captions that give labels")
	d.int(&c.Train.Stage1Epochs, "stage1-epochs", "train the classifier alone for this many `epochs`")
	d.int(&c.Train.Stage2Epochs, "stage2-epochs", "train baseline, NMN-FI and NMN-FD for this many `epochs`")
	f := under(cmd, "Features of your own")
	folders(f, &t.Features, "features", "use concept probabilities in these `folders`, as name=folder,...")
	e.excludes("features", "train-size", "validation-size", "test-size", "frames", "captions-per-clip", "noise",
		"stage1-epochs", "stage2-epochs") // of moving scenes
	f.file(&t.Captions, "captions", "read the captions of the clips from this `file`", "json", "jsonl", "csv", "zip", "gz")
	enum(under(cmd, "Captioner"), &t.Captioner.Preset, "preset", "start captioners from these `settings`",
		session.Presets()...)
	setFlags(under(cmd, "Captioner"), &t.settings)
	t.settings.add(under(cmd, "Captioner"), "epochs", "batch-size", "learning-rate", "partial")
	f.needs("features", "partial")
	t.settings.add(under(cmd, "Run"), "device", "threads")
	out := under(cmd, "Output")
	out.directory(&t.meteorDir, "meteor-data", "read METEOR's resource files from this `folder`")
	t.shown.flags(out)
	return cmd
}

func folders(r group, v *[]table4.Features, name, usage string) {
	parse := func(s string) (table4.Features, error) {
		name, folder, found := strings.Cut(s, "=")
		if !found || name == "" || folder == "" || strings.ContainsAny(name, `/\`) {
			return table4.Features{}, errors.New("want name=folder")
		}
		return table4.Features{Name: name, Folder: folder}, nil
	}
	r.value(list[table4.Features]{v, parse}, name, usage)
}

func (t *table4Command) run(cmd *cobra.Command, p *program) (err error) {
	if err := t.resolve(); err != nil {
		return err
	}
	if t.meteorDir != "" {
		t.Meteor, err = metrics.LoadMeteor(t.meteorDir)
		if err != nil {
			return err
		}
	}
	w := &watch{program: p}
	t.Log, t.Observe, t.Captioning = p.log, w.observer(), p.captionObserver()
	t.Extracted = p.counted("extracted", "pictures")
	tables, err := t.Run(cmd.Context())
	p.status.clear()
	if err != nil {
		return goesOn(err, false)
	}
	return t.shown.print(p, tables...)
}

// resolve applies the flags to the preset of the captioner and checks them.
func (t *table4Command) resolve() (err error) {
	if t.Captioner, err = session.FromPreset(t.Captioner.Preset); err != nil {
		return err
	}
	if err := t.settings.apply(&t.Captioner); err != nil {
		return err
	}
	return t.Validate()
}
