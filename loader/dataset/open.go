package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/setting"
	"nmn/labels"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/scenes"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// Splits are the splits of the configured data. Validation and test are nil if there are none. Splits must be
// closed.
type Splits struct {
	Train      *loader.Set // labels may be noisy
	clean      *loader.Set // the same pictures before noise was injected; train itself without noise
	Validation *loader.Set
	Test       *loader.Set
	// Evidence, N×K of float32, replaces the training labels: log-likelihood ratios of the observations; nil
	// if labels are used.
	Evidence    *dense.Dense
	Noise       float64     // share of replaced captions, for tables
	NoiseKind   inject.Kind // of the replaced captions; empty for none
	Flips       labels.FlipRates
	injected    struct{ train, validation *inject.Injection } // flips, nil for none
	labelSource string                                        // description of features or a manifest
	alike       string                                        // description of classes with nearly equal names
	// labels are names without doubt, whatever they look like
	labelsAreNames  bool
	learned         string   // description of the evidence
	originalIDs     []string // the bags before any were held out; nil if they are the bags of Train
	options         Options
	captionPictures map[string]PictureFile // pictures of bags with captions, by identifier
	sources         *sources               // files that the data were read from
	release         func() error

	LeftOut []loader.BadSample // training bags that cannot be used, by their places before they were left out
	leftOf  string             // description of what was left out, and how many

	taken  json.RawMessage // extraction settings of clips' frames, as in their index
	taking *Taking

	cleanValidation *loader.Set // validation before labels were flipped

	Census *loader.Census     // census of the noisy training labels
	noisy  *inject.Statistics // statistics of these against the clean labels or the truth; nil if neither is known
}

// OriginalIDs returns the identifiers of the bags of the training files, in their order, before any were held out.
func (d *Splits) OriginalIDs() []string {
	if d.originalIDs == nil {
		return d.Train.IDs
	}
	return d.originalIDs
}

// Taking describes how the frames of the training clips were extracted; nil if the data are no clips.
func (d *Splits) Taking() *Taking { return d.taking }

// EvaluationSplit returns the split that figures are measured on, and its name.
func (d *Splits) EvaluationSplit() (*loader.Set, string) {
	switch {
	case d.Test != nil:
		return d.Test, "test"
	case d.Validation != nil:
		return d.Validation, "validation"
	}
	return d.Train, "train"
}

// LabelsAreNames reports whether no label is a list of labels in one string, whatever it looks like.
func (d *Splits) LabelsAreNames() bool { return d.labelsAreNames }

// Labels describes the form of a manifest's labels and the columns of features, as text; empty for other
// data.
func (d *Splits) Labels() string { return d.labelSource }

// Split returns a split by name.
func (d *Splits) Split(name string) (*loader.Set, error) {
	for _, part := range d.parts() {
		if set := *part.to; part.name == name && set != nil {
			return set, nil
		}
	}
	return nil, setting.Errorf("", "the data has no %s split", name)
}

// part is one of the splits.
type part struct {
	name, split string // as users and as files name it
	to          **loader.Set
}

// parts are all splits, the training split first.
func (d *Splits) parts() []part {
	return []part{{"train", loader.TrainSplit, &d.Train}, {"validation", loader.ValidationSplit, &d.Validation},
		{"test", loader.TestSplit, &d.Test}}
}

// take makes the splits of some rows of a set, by the names of parts. Splits without rows stay as they are.
func (d *Splits) take(whole *loader.Set, rows map[string][]int) (err error) {
	for _, part := range d.parts() {
		if len(rows[part.name]) == 0 {
			continue
		}
		if *part.to, err = loader.Subset(whole, whole.Name+"-"+part.name, rows[part.name]); err != nil {
			return err
		}
	}
	return nil
}

// Open reads or makes the data of a configuration. The caller must close it.
func Open(ctx context.Context, c *Config, o Options) (*Splits, error) {
	d := &Splits{options: o, sources: &sources{}, release: func() error { return nil }}
	if o.Log == nil {
		d.options.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	switch c.Set {
	case Scenes, MovingScenes:
		err = d.openScenes(c)
	case MSRVTT:
		err = d.openMSRVTT(ctx, c)
	case Clips:
		err = d.openClips(ctx, c)
	case Features:
		err = d.openFeatures(ctx, c)
	case Manifest:
		err = d.openManifest(ctx, c)
	default:
		err = d.openCaptions(ctx, c)
	}
	if err == nil {
		err = d.leaveOut(ctx)
	}
	if err == nil {
		d.taking = takingOf(d.Train, d.taken)
		d.clean, d.cleanValidation = d.Train, d.Validation
		err = d.injectNoise(ctx, c)
	}
	if err == nil {
		err = d.readEvidence(c)
	}
	if err == nil {
		d.readFrom(c)
		err = d.survey(ctx, c)
	}
	if err != nil {
		_ = d.Close() // the first error is more useful
		return nil, err
	}
	return d, nil
}

func (d *Splits) openScenes(c *Config) error {
	for _, split := range []struct {
		name string
		n    int
		to   **loader.Set
	}{{"train", c.TrainSize, &d.Train}, {"val", c.ValidationSize, &d.Validation}, {"test", c.TestSize, &d.Test}} {
		if split.n == 0 {
			continue
		}
		var err error
		if c.Set == MovingScenes {
			*split.to, err = scenes.MakeMoving(scenes.MovingConfig{Seed: c.Seed, Split: split.name, N: split.n,
				Frames: c.Frames, Cache: true})
		} else {
			*split.to, err = scenes.Make(scenes.Config{Seed: c.Seed, Split: split.name, N: split.n, Cache: true,
				MainObject: c.Classes == Exclusive})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openCaptions reads files of captions. Words that are not in the vocabulary of the training captions are
// no labels anywhere.
func (d *Splits) openCaptions(ctx context.Context, c *Config) error {
	captions, err := readCaptions(ctx, d.options.Log, c.Captions)
	if err != nil {
		return whereItStarted(err, c.Captions)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	vocabulary, err := openVocabulary(c, captions.Texts(c.CaptionsPerSample))
	if err != nil {
		return err
	}
	whole, err := d.captionSet(c, captions, "data.images", c.Images, vocabulary)
	if err != nil {
		return err
	}
	if err := labelled(whole, c); err != nil {
		return err
	}
	if c.ValCaptions == "" {
		return d.holdOut(ctx, c, whole)
	}
	d.Train = whole
	return d.openValidation(ctx, c, vocabulary)
}

// labelled refuses training captions that have no label at all.
func labelled(train *loader.Set, c *Config) error {
	if slices.Contains(train.Labels.Uint8s(), 1) {
		return nil
	}
	return unlabelled(train, c)
}

func unlabelled(train *loader.Set, c *Config) error {
	return fmt.Errorf("%s: no caption has any of the %d words of the vocabulary: does %s belong to other captions?",
		train.Name, train.Vocabulary.Len(), c.Vocabulary)
}

// captionSet joins captions with the pictures of the folder of a setting. Pictures whose file is missing are left
// out up to the limit on bad samples.
func (d *Splits) captionSet(c *Config, captions *annotation.Bags, key, folder string,
	v *text.Vocabulary) (*loader.Set, error) {
	missing := 0
	o := annotation.SetOptions{CaptionsPerSample: c.CaptionsPerSample, Images: folder}
	if c.MaxBadSamples > 0 {
		o.Missing = func(file string) {
			missing++
			d.options.Log.Warn("picture is missing", "file", file)
		}
	}
	set, files, err := captions.Set(v, o)
	if err != nil {
		return nil, err
	}
	if missing > c.MaxBadSamples {
		return nil, fmt.Errorf("%s: %d pictures have no file in %s; `data.max_bad_samples` allows %d", captions.Name,
			missing, folder, c.MaxBadSamples)
	}
	source, err := loader.NewFileSource(folder, files)
	if err != nil {
		return nil, err
	}
	set.Source = source
	d.readFolder(key, folder, files)
	if d.captionPictures == nil {
		d.captionPictures = make(map[string]PictureFile, len(files))
	}
	for i, file := range files {
		d.captionPictures[set.IDs[i]] = PictureFile{Folder: folder, Name: file}
	}
	return set, nil
}

// PictureFile is where the picture of a bag lies.
type PictureFile struct{ Folder, Name string }

// PictureFile returns the picture of a bag with captions; ok is false for other data.
func (d *Splits) PictureFile(id string) (file PictureFile, ok bool) {
	file, ok = d.captionPictures[id]
	return file, ok
}

// alsoClose closes something with the data.
func (d *Splits) alsoClose(c io.Closer) {
	before := d.release
	d.release = func() error { return cmp.Or(c.Close(), before()) }
}

// whereItStarted adds to an error about a missing file from where its path is taken.
func whereItStarted(err error, path string) error {
	if here, wd := os.Getwd(); wd == nil && errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(path) {
		return fmt.Errorf("%w (a path in %s)", err, here)
	}
	return err
}

// openValidation splits the validation captions: by lists of identifiers, else in two halves.
func (d *Splits) openValidation(ctx context.Context, c *Config, v *text.Vocabulary) error {
	captions, err := readCaptions(ctx, d.options.Log, c.ValCaptions)
	if err != nil {
		return err
	}
	whole, err := d.captionSet(c, captions, "data.val_images", cmp.Or(c.ValImages, c.Images), v)
	if err != nil {
		return err
	}
	if c.ValidationIDs == "" && c.TestIDs == "" {
		d.Validation, d.Test, err = loader.SplitHalves(whole, c.Seed)
		return err
	}
	_, err = d.listed(ctx, c, whole)
	return err
}

// Options are inputs of Open that are not part of the configuration.
type Options struct {
	// Log takes warnings about files, and what was read from them; nil for nowhere.
	Log *slog.Logger
	// LabelMemory bounds the labels of training clips that are held in memory, in MiB.
	LabelMemory int
	// Unusable finds the training bags that cannot be used, in their order, which are then left out; nil for none.
	Unusable func(context.Context, *loader.Set) ([]loader.BadSample, error)
}

// Close closes the files that the splits read from.
func (d *Splits) Close() error { return d.release() }
