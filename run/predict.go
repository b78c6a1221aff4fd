package run

import (
	"context"
	"errors"

	"nmn/eval"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/train"
)

// Automatic is the threshold that a model's own probabilities choose: the one of the best expected F1.
const Automatic = -1

// PredictOptions say which words are predicted.
type PredictOptions struct {
	Reading
	// Threshold is the least probability of a word, or Automatic: then it is the one that the run has kept with its
	// model, else the one of the best expected F1 on what is predicted, which needs a hundred bags or so to mean much.
	Threshold float64
	// Top bounds the words of each bag, 0 for no limit. With it an automatic threshold is 0.
	Top          int
	Observed     bool   // predicts p(z=1), that people would say the word, instead of p(y=1), that it holds
	FFmpeg       string // the program that takes the frames of videos, for a model of clips; empty for ffmpeg on the PATH
	FeatureArray string // names the array of features in .npz and .safetensors; empty for that of the run
}

// DefaultPredictOptions predict words from the automatic threshold.
func DefaultPredictOptions() PredictOptions {
	return PredictOptions{Reading: DefaultReading(), Threshold: Automatic}
}

// Predict predicts the words of pictures, each path a file or a folder that is searched (dataset.FindPictures), or of
// the rows of one file of features, for a model that takes those. Labels in that file are not read. For a model that
// has learned clips, paths are videos and folders of frames (dataset.FindClips).
func (m *Model) Predict(ctx context.Context, paths []string, o PredictOptions) (*Predictions, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	scorePaths := m.scorePictures
	if m.TakesFeatures() {
		if err := o.refuseImages(); err != nil {
			return nil, err
		}
	}
	switch {
	case m.TakesFeatures():
		scorePaths = m.scoreFeatures
	case m.checkpoint.Clips != nil:
		scorePaths = m.scoreClips
	}
	if m.net.Config().Exclusive && o.Threshold == Automatic && o.Top == 0 {
		o.Top = 1 // the most probable class
	}
	p, scores, err := scorePaths(ctx, paths, &o)
	if err != nil {
		return nil, err
	}
	o.leftOut(p.Bad, p.set)
	probabilities := scores.Prob
	if o.Observed {
		probabilities = scores.Observed
	}
	p.Probabilities, p.top = probabilities.Float32s(), o.Top
	return p, p.cut(&o, m.folder)
}

func (o *PredictOptions) validate() error {
	switch {
	case o.Threshold != Automatic && !(o.Threshold >= 0 && o.Threshold <= 1):
		return setting.Errorf("", "threshold is %g, want 0 to 1, or -1", o.Threshold)
	case o.Top < 0:
		return setting.Errorf("", "%d classes of each sample, want at least 0", o.Top)
	}
	return o.Reading.validate()
}

func (m *Model) scorePictures(ctx context.Context, paths []string,
	o *PredictOptions) (*Predictions, *train.Scores, error) {
	files, skipped, err := dataset.FindPictures(ctx, paths, o.Images)
	if err != nil {
		return nil, nil, err
	}
	if files, err = o.Shard.files(files, "pictures"); err != nil {
		return nil, nil, err
	}
	o.skipped(skipped)
	set, err := m.throughBackbone(ctx, dataset.Pictures(files, m.vocabulary, o.MaxPixels), &o.Reading)
	if err != nil {
		return nil, nil, err
	}
	p, scores, err := m.score(ctx, set, o)
	if err == nil {
		p.names, p.Skipped = o.pictureNames(paths, files), skipped
	}
	return p, scores, err
}

// scoreFeatures reads the rows of a feature file. Which of its columns are features is as in the run that the model is
// from.
func (m *Model) scoreFeatures(ctx context.Context, paths []string,
	o *PredictOptions) (_ *Predictions, _ *train.Scores, err error) {
	if len(paths) != 1 {
		return nil, nil, setting.Errorf("", "predict: the model takes features: name one file of them, not %d", len(paths))
	}
	f := BaseConfig().Data.Features
	if run, err := ReadConfig(m.folder); err == nil {
		f = run.Data.Features
	}
	if o.FeatureArray != "" {
		f.Array = o.FeatureArray
	}
	// a list of labels shows which columns are no features
	of := f.Options(f.HeldOut(dataset.FeatureFiles{Features: paths[0]}), nil)
	of.Unlabelled = true
	table, err := m.openFeatures(ctx, of)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	if table.Rows.Width() == m.net.Config().Input { // else another message says so
		if err := table.Order(m.checkpoint.Columns, "the model"); err != nil {
			return nil, nil, err
		}
	}
	set, err := loader.FeatureSet("features", table, m.vocabulary)
	if err != nil {
		return nil, nil, err
	}
	if set, err = o.Shard.set(set); err != nil {
		return nil, nil, err
	}
	return m.score(ctx, set, o)
}

// openFeatures opens a file of as many features as the model takes. A column that is called as labels are is a feature
// where the model has one more than there are others: in training, labels were elsewhere then.
func (m *Model) openFeatures(ctx context.Context, of features.Options) (*features.Table, error) {
	table, err := features.Open(ctx, of)
	if err != nil || table.Rows.Width() != m.net.Config().Input-1 {
		return table, err
	}
	of.LabelsElsewhere = true
	all, err := features.Open(ctx, of)
	switch {
	case err != nil: // what is wrong with the table is said where its features are counted
		return table, nil
	case all.Rows.Width() != m.net.Config().Input:
		return table, all.Close()
	}
	return all, table.Close()
}

func (m *Model) score(ctx context.Context, set *loader.Set, o *PredictOptions) (*Predictions, *train.Scores, error) {
	scores, err := train.Score(ctx, m.net, set, m.loader(&o.Reading))
	if err != nil {
		return nil, nil, err
	}
	p := &Predictions{Vocabulary: m.vocabulary, Bad: scores.Bad, set: set, names: set.IDs, index: scores.Index}
	return p, scores, nil
}

// loader returns how the model reads bags that are named on the command line, and not in a configuration.
func (m *Model) loader(r *Reading) loader.Config {
	l := loader.DefaultConfig()
	l.BatchSize, l.MaxBadSamples, l.MaxPixels = r.Batch, r.MaxBadSamples, r.MaxPixels
	l.Workers, l.Prefetch = m.session.Config.Run.Workers, m.session.Config.Run.Prefetch
	if !m.TakesFeatures() {
		m.reads(&l, r.Fit)
	}
	return l
}

// cut finds the threshold that holds: one that is given, else that of the run, else that of what was predicted.
func (p *Predictions) cut(o *PredictOptions, folder string) (err error) {
	switch {
	case o.Threshold != Automatic:
		p.Threshold = o.Threshold
		return nil
	case o.Top > 0:
		return nil
	}
	if run, err := ReadOutcome(folder); err == nil && run != nil && run.Threshold != nil && !o.Observed {
		p.Threshold, p.ThresholdFrom = *run.Threshold, FromRun
		return nil
	}
	if o.Shard.Of > 0 {
		return setting.Errorf("", "predict: the run has kept no threshold, and one shard of the pictures gives none for "+
			"all: give `predict.threshold`, `predict.top` or `predict.format` csv")
	}
	p.ThresholdFrom = FromPredictions
	p.Threshold, err = eval.PlugInThreshold(p.Probabilities, false)
	return err
}
