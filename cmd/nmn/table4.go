package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval/caption"
	"nmn/kernels"
	"nmn/loader/annotation"
	"nmn/loader/scenes"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
)

// table4 is the paper's last experiment: captioners on the concept probabilities of nets that were trained
// with and without a noise model.
type table4 struct {
	concepts  run.Config    // of the nets, on moving scenes
	captioner captionConfig // of the captioners
	perClip   int           // captions of a clip of the moving scenes
	features  []namedFolder // of a user, instead of moving scenes
	captions  string        // of the clips in those
	seeds     []uint64
	meteorDir string
	runDir    string
	format    report.Format
	asJSON    bool

	program *program
	backend kernels.Backend
	meteor  *caption.Meteor
}

// namedFolder is a folder of features with a name for the table.
type namedFolder struct{ name, folder string }

// table4Arms are the nets of the paper's table.
func table4Arms() []recipe.Name { return []recipe.Name{recipe.Star, recipe.FI, recipe.FD} }

func newTable4(p *program) *cobra.Command {
	t := table4{program: p, perClip: annotation.MSRVTTCaptions, seeds: []uint64{1, 2}, runDir: filepath.Join("runs", "table4"), format: report.Text}
	t.captioner = captionBase(captionScenic)
	t.concepts = run.BaseConfig()
	t.concepts.Preset, t.concepts.Size, t.concepts.Recipe.Form = run.MovingScenesPreset, run.Quick, recipe.Paper
	t.concepts.MovingScenes(run.Quick)
	t.concepts.Data.TrainSize, t.concepts.Data.ValidationSize, t.concepts.Data.TestSize = 500, 100, 200
	t.concepts.Train.Stage1Epochs, t.concepts.Train.Stage2Epochs = 10, 4
	cmd := &cobra.Command{
		Use:   "table4",
		Short: "Caption clips from the concepts of star, NMN-FI and NMN-FD, as in the paper's Table 4",
		Long: `Train star, NMN-FI and NMN-FD with MIL on clips whose labels come from captions, a share of
them replaced; write the concept probabilities of every frame; train a captioner on each, from
the same seeds; and print CIDEr-D, BLEU-4, ROUGE-L and METEOR of their captions in the layout
of the paper's Table 4, beside a captioner that always says the most frequent caption and one
that is given the true concepts. All of it runs on the embedded moving scenes, without a
download; the published figures, of other clips, stand under a heading of their own.
--features takes concept probabilities of your own instead: folders with train.npy, train.csv,
validation.npy, validation.csv and, where there are test clips, test.npy and test.csv, as nmn
extract --per-frame --output and --output-clips write them. What is complete is not run again.`,
		Example: `  nmn experiment table4
  nmn experiment table4 --features star=f/star,fi=f/fi,fd=f/fd --captions train_val_annotation.zip --preset paper`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd) },
	}
	t.flags(cmd)
	return cmd
}

func (t *table4) flags(cmd *cobra.Command) {
	e := under(cmd, "Experiment")
	e.seeds(&t.seeds, "seeds", "`seeds` of noise, nets and captioners, as n,...")
	e.directory(&t.runDir, "run-dir", "`folder` of everything")
	d, c := under(cmd, "Moving scenes"), &t.concepts
	d.int(&c.Data.TrainSize, "train-size", "`clips` to train on")
	d.int(&c.Data.ValidationSize, "validation-size", "`clips` that end the training of a captioner")
	d.int(&c.Data.TestSize, "test-size", "`clips` that the table is of")
	d.int(&c.Data.Frames, "frames", "`frames` of a clip")
	d.int(&t.perClip, "captions-per-clip", "`captions` of a clip, to learn and to score by; the labels of the nets come from the first five")
	d.float(&c.Data.Noise, "noise", "`share` of the captions behind the labels that is replaced")
	d.int(&c.Train.Stage1Epochs, "stage1-epochs", "`epochs` of the classifier alone")
	d.int(&c.Train.Stage2Epochs, "stage2-epochs", "`epochs` of star, NMN-FI and NMN-FD on top of it")
	f := under(cmd, "Features of your own")
	folders(f, &t.features, "features", "`folders` of concept probabilities instead of those of moving scenes, as name=folder,...")
	f.file(&t.captions, "captions", "`file` of the captions of their clips, as nmn caption train takes it", "json", "jsonl", "csv", "zip", "gz")
	f.bool(&t.captioner.Data.Partial, "partial", "leave out clips without captions and captions without clips, instead of refusing them")
	k, n := under(cmd, "Captioner"), &t.captioner
	enum(k, &n.Preset, "preset", "`settings` of the captioners, as of nmn caption train", captionPresets()...)
	k.int(&n.Train.Epochs, "epochs", "most `epochs` of a captioner")
	k.int(&n.Train.Batch, "batch-size", "`captions` in a step")
	k.float(&n.Train.LearningRate, "learning-rate", "`rate` at the start")
	k.int(&n.Train.Patience, "patience", "end after so many `validations` without a better CIDEr-D; 0 for never")
	k.int(&n.Net.Hidden, "hidden", "`cells` of each of the two LSTMs")
	wordFlags(k, &n.Words)
	n.Validation.flags(k)
	deviceFlags(cmd, under(cmd, "Run"), &n.Device, &n.Threads)
	out := under(cmd, "Output")
	out.directory(&t.meteorDir, "meteor-data", "`folder` of METEOR's resource files, as of nmn caption eval")
	enum(out, &t.format, "format", "`format` of the tables on standard output", report.Text, report.Markdown, report.CSV, report.JSON)
	out.bool(&t.asJSON, "json", "same as --format json")
}

// folders declares a list of named folders.
func folders(r group, v *[]namedFolder, name, usage string) {
	parse := func(s string) (namedFolder, error) {
		name, folder, found := strings.Cut(s, "=")
		if !found || name == "" || folder == "" || strings.ContainsAny(name, `/\`) {
			return namedFolder{}, errors.New("want name=folder")
		}
		return namedFolder{name, folder}, nil
	}
	r.set.Var(list[namedFolder]{v, parse, func(f namedFolder) string { return f.name + "=" + f.folder }}, name, usage)
	r.keep(name, v)
}

func (t *table4) run(cmd *cobra.Command) (err error) {
	if err := t.resolve(cmd); err != nil {
		return err
	}
	t.meteor = caption.NewMeteor()
	if t.meteorDir != "" {
		if t.meteor, err = caption.LoadMeteor(t.meteorDir); err != nil {
			return err
		}
	}
	var clips *table4Clips
	if len(t.features) > 0 {
		clips, err = t.ownClips()
	} else {
		clips, err = t.scenes(cmd.Context())
	}
	if err == nil {
		err = t.captionAll(cmd.Context(), clips)
	}
	if errors.Is(err, run.ErrInterrupted) {
		return fmt.Errorf("%w; the same command goes on", err)
	}
	return err
}

// resolve lays the flags over the preset of the captioner and checks them all.
func (t *table4) resolve(cmd *cobra.Command) error {
	given := givenFlags(cmd.Flags())
	t.captioner = captionBase(t.captioner.Preset)
	if err := setAgain(cmd.Flags(), given); err != nil {
		return err
	}
	t.concepts.Run.Device, t.concepts.Run.Threads = t.captioner.Device, t.captioner.Threads
	if len(t.seeds) == 0 {
		return usagef("experiment table4: give at least one of --seeds")
	}
	for i, seed := range t.seeds {
		if seed == 0 || slices.Contains(t.seeds[:i], seed) {
			return usagef("experiment table4: seed %d: seeds are different and at least 1", seed)
		}
	}
	d := &t.concepts.Data
	switch {
	case (len(t.features) > 0) != (t.captions != ""):
		return usagef("experiment table4: --features and --captions belong together: give both, or none for moving scenes")
	case d.TestSize < 1 || d.ValidationSize < 1:
		return usagef("experiment table4: --validation-size and --test-size are at least 1")
	case t.perClip < scenes.CaptionsPerPicture || t.perClip > 100:
		return usagef("experiment table4: --captions-per-clip is %d, want %d to 100", t.perClip, scenes.CaptionsPerPicture)
	}
	for i, f := range t.features {
		if slices.ContainsFunc(t.features[:i], func(g namedFolder) bool { return g.name == f.name }) {
			return usagef("experiment table4: --features names %s twice", f.name)
		}
	}
	if t.asJSON {
		t.format = report.JSON
	}
	return cmp.Or(t.concepts.Validate(), t.captioner.validate())
}
