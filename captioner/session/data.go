package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/internal/origin"
	"nmn/internal/rng"
	"nmn/internal/setting"
	"nmn/labels/misplaced"
	"nmn/loader"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/folder"
)

// Data are the words and the clips that a captioner learns from and is judged by.
type Data struct {
	Words      *captioner.Words
	Train      *captioner.Set
	Validation *captioner.Set // nil where no clips were held out
	Places     []origin.Place // the files that were read; a run compares them when it resumes

	files []*captioner.FrameFile // that Close closes
}

// OpenData reads words and captions and opens features, which stay on disk. It reports captions that it leaves out
// by a message, unless the callback is nil. Close the data.
func (c *DataConfig) OpenData(ctx context.Context, words captioner.WordOptions,
	tell func(run.Message)) (*Data, error) {
	if tell == nil {
		tell = func(run.Message) {}
	}
	o := opening{config: c, words: words, tell: tell, Data: new(Data)}
	if err := o.open(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o.Data, nil
}

// Close closes the features.
func (d *Data) Close() error {
	var err error
	for _, f := range d.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// opening is data that are being opened.
type opening struct {
	*Data
	config *DataConfig
	words  captioner.WordOptions
	tell   func(run.Message)
}

func (o *opening) open(ctx context.Context) error {
	c := o.config
	captions, err := captioner.ReadCaptions(ctx, c.Train.Captions, c.Train.Split)
	if err != nil {
		return err
	}
	features, err := o.features(ctx, c.Train)
	if err != nil {
		return err
	}
	held := map[string]bool{}
	if c.Validation.Features == "" {
		held = HeldOut(captions.IDs, c.ValidationShare, c.Seed)
	}
	if err := o.makeWords(captioner.Texts(features, captions, held)); err != nil {
		return err
	}
	whole, err := o.join("training clips", features, captions,
		captioner.JoinOptions{Partial: c.Partial, MaxWords: c.MaxWords})
	if err != nil {
		return err
	}
	if o.Train, o.Validation = whole.HoldOut(held); o.Train == nil {
		return errors.New("no clip is left to train on: lower data.validation_share")
	}
	if err := o.leaveOutForeign(ctx); err != nil {
		return err
	}
	if c.Validation.Features != "" {
		if err := o.validation(ctx); err != nil {
			return err
		}
	}
	files := c.places()
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if path := *files[key]; path != "" {
			o.Places = append(o.Places, origin.Place{Name: key, Path: path, ByContent: true})
		}
	}
	o.tell(run.Message{Topic: "clips", Detail: true,
		Text: fmt.Sprintf("%d with %d captions, %d frames of %d features; %d words",
			o.Train.Clips(), o.Train.Pairs(), o.Train.Frames(), o.Train.Width(), o.Words.AtLeast(0))})
	return nil
}

// Captions are audited by this number of the most frequent words, and kept if they belong to their clip with
// this probability.
const (
	judgedBy = 1000
	keepFrom = .5
)

// leaveOutForeign leaves out training captions that belong to other clips, judged by the other captions of a
// clip.
func (o *opening) leaveOutForeign(ctx context.Context) error {
	if o.config.CaptionsRecipe != recipe.Witness {
		return nil
	}
	options := misplaced.DefaultOptions()
	options.Seed, options.Resamples = rng.Derive(o.config.Seed, "captions"), 0
	found, err := misplaced.Find(ctx, misplaced.Input{Classes: judgedBy, Captions: o.Train.Mentions(judgedBy)}, options)
	if err != nil {
		return err
	}
	if found.Refusal != "" {
		o.tell(run.Message{Topic: "witness", Detail: true, Text: "all are learned: " + string(found.Refusal)})
		return nil
	}
	kept := o.Train.Keep(found.Kept(keepFrom))
	if kept == nil {
		return nil
	}
	if left := o.Train.Pairs() - kept.Pairs(); left > 0 {
		o.tell(run.Message{Topic: "witness", Text: fmt.Sprintf(
			"%.1f %% of the captions seem to be of other clips: %d are not learned", 100*found.Foreign, left)})
	}
	o.Train = kept
	return nil
}

// places are the files that are read.
func (c *DataConfig) places() folder.Places { return setting.Paths("data.", c) }

// features opens a file that Close closes.
func (o *opening) features(ctx context.Context, c ClipFiles) (*captioner.FrameFile, error) {
	f, err := c.Open(ctx)
	if err == nil {
		o.files = append(o.files, f)
	}
	return f, err
}

// validation opens the validation clips. Their frames must be like the training frames.
func (o *opening) validation(ctx context.Context) error {
	v := o.config.Validation
	v.Array = o.config.Train.Array
	v.Captions = cmp.Or(v.Captions, o.config.Train.Captions)
	features, err := o.features(ctx, v)
	if err != nil {
		return err
	}
	captions, err := captioner.ReadCaptions(ctx, v.Captions, v.Split)
	if err != nil {
		return err
	}
	if err := captioner.Fit(features, o.Train.Frames(), o.Train.Width(), true); err != nil {
		return fmt.Errorf("validation clips: %w", err)
	}
	o.Validation, err = o.join("validation clips", features, captions,
		captioner.JoinOptions{Partial: o.config.Partial})
	return err
}

// join joins features and captions and reports what was left out.
func (o *opening) join(what string, f captioner.FrameFeatures, c *metrics.Captions,
	options captioner.JoinOptions) (*captioner.Set, error) {
	set, err := captioner.Join(f, c, o.Words, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if left := set.Left.String(); left != "" {
		o.tell(run.Message{Text: fmt.Sprintf("%s: left out: %s", what, left)})
	}
	return set, nil
}

// makeWords reads the vocabulary that is named, or makes one of the captions that are learned.
func (o *opening) makeWords(learned iter.Seq[string]) (err error) {
	if file := o.config.Vocabulary; file != "" {
		o.Words, err = captioner.ReadWords(file)
		return err
	}
	var counted captioner.Counted
	o.Words, counted, err = captioner.BuildWords(learned, o.words)
	switch {
	case counted.Captions == 0:
		return errors.New("no clip with features has captions to learn: " +
			"do `captions.features` and `captions.captions` name clips alike, and belong to one split?")
	case err != nil:
		return err
	}
	m := run.Message{Topic: "words", Text: fmt.Sprintf("%d of %v", o.Words.AtLeast(0), counted), Detail: true}
	if counted.TooLong > 0 {
		m.Text, m.Detail = counted.String(), false
	}
	o.tell(m)
	return nil
}

// HeldOut chooses a share of clips by a seeded order that depends on the identifiers alone.
func HeldOut(ids []string, share float64, seed uint64) map[string]bool {
	held := map[string]bool{}
	order := loader.ShuffledByID(ids, rng.Derive(seed, "held-out clips"))
	for _, i := range order[:int(math.Round(share*float64(len(ids))))] {
		held[ids[i]] = true
	}
	return held
}
