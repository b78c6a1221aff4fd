package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/origin"
	"nmn/internal/setting"
	"nmn/labels"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/manifest"

	dense "gorgonia.org/tensor"
)

// Splits are the splits of the configured data. Validation and test are nil if there are none. Splits must be closed.
type Splits struct {
	Train      *loader.Set // labels may be noisy
	Validation *loader.Set
	Test       *loader.Set
	Evidence   *dense.Dense       // log-likelihood ratios, N×K of float32, in the place of training labels; nil for none
	Verified   *manifest.Verified // training bags whose labels were checked; nil for none

	Noise     float64     // share of replaced captions, for tables
	NoiseKind inject.Kind // of the replaced captions; empty for none
	Flips     labels.FlipRates
	// Labels describes the form of the labels of a manifest or of a folder with captions, and the columns of features. It
	// is empty for other data.
	Labels         string
	LabelColumns   []string           // columns of features that gave the labels
	LabelsAreNames bool               // no label is a list of labels in one string, whatever it looks like
	Census         *loader.Census     // census of the noisy training labels
	LeftOut        []loader.BadSample // training bags that cannot be used, by their places before they were left out
	Taking         *Taking            // how the frames of the training clips were extracted; nil if there are no clips

	clean, cleanValidation *loader.Set                  // the same bags before noise was injected; the same sets without
	injected               map[string]*inject.Injection // flips by the names of their files; nil for none
	noisy                  *inject.Statistics           // noise against the clean labels or the truth; nil if unknown
	notes                  []string                     // on nearly equal names of classes, evidence, verified bags
	leftOf                 string                       // description of what was left out, and how many
	originalIDs            []string                     // the bags before any were held out; nil if they are Train's
	captionPictures        map[string]PictureFile       // pictures of bags with captions, by identifier
	options                Options
	sources                *sources    // files that the data were read from
	opened                 []io.Closer // closed with the data
}

// OriginalIDs returns the identifiers of the bags of the training files, in their order, before any were held out.
func (d *Splits) OriginalIDs() []string {
	if d.originalIDs == nil {
		return d.Train.IDs
	}
	return d.originalIDs
}

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

// Split returns a split by name.
func (d *Splits) Split(name string) (*loader.Set, error) {
	for _, part := range d.parts() {
		if set := *part.to; part.name == name && set != nil {
			return set, nil
		}
	}
	return nil, setting.Errorf("", "the data has no %s split", name)
}

type part struct {
	name, split string // as users and as files name it
	to          **loader.Set
}

// parts are all splits, the training split first.
func (d *Splits) parts() []part {
	return []part{{"train", loader.TrainSplit, &d.Train}, {"validation", loader.ValidationSplit, &d.Validation},
		{"test", loader.TestSplit, &d.Test}}
}

// Open reads or makes the data of a configuration. The caller must close it.
func Open(ctx context.Context, c *Config, o Options) (*Splits, error) {
	d := newSplits(o)
	err := c.Set.check()
	if err == nil {
		err = c.Set.source().open(d, ctx, c)
	}
	if err == nil && d.Train.Rows == nil && c.Set != Features && !slices.Contains(d.Train.Labels.Uint8s(), 1) {
		err = unlabelled(d.Train, c)
	}
	if err == nil && (c.Classes == Exclusive || c.Classes == AutoClasses) {
		d.forgetOtherClasses()
	}
	if err == nil {
		err = d.leaveOut(ctx)
	}
	if err == nil {
		if !d.Train.Videos() {
			d.Taking = nil
		} else if d.Taking == nil || d.Taking.Frames < 1 {
			d.Taking = &Taking{Frames: d.Train.LongestBag()}
		}
		d.clean, d.cleanValidation = d.Train, d.Validation
		err = d.injectNoise(ctx, c)
	}
	if err == nil {
		err = d.readEvidence(c)
	}
	if err == nil {
		err = d.readVerified(ctx, c)
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

// unlabelled is the error of training data that have no label at all.
func unlabelled(train *loader.Set, c *Config) error {
	return fmt.Errorf("%s: no picture has any of the %d words of the vocabulary: does %s belong to other data?",
		train.Name, train.Vocabulary.Len(), c.Vocabulary)
}

func newSplits(o Options) *Splits {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Splits{options: o, captionPictures: map[string]PictureFile{},
		sources: &sources{found: map[bool]origin.List{}, beside: map[string]origin.File{}}}
}

// whereItStarted adds to an error about a missing file from where its path is taken.
func whereItStarted(err error, path string) error {
	if here, wd := os.Getwd(); wd == nil && errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(path) {
		return fmt.Errorf("%w (a path in %s)", err, here)
	}
	return err
}

// Options are inputs of Open that are not part of the configuration.
type Options struct {
	Log         *slog.Logger // takes warnings about files, and what was read from them; nil for nowhere
	LabelMemory int          // bounds the labels of training clips that are held in memory, in MiB
	// Unusable finds the training bags that cannot be used, in their order, which are then left out; nil for none.
	Unusable func(context.Context, *loader.Set) ([]loader.BadSample, error)
}

// Close closes the files that the splits read from.
func (d *Splits) Close() (err error) {
	for _, c := range slices.Backward(d.opened) {
		err = cmp.Or(err, c.Close())
	}
	return err
}
