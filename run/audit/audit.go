package runaudit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"nmn/eval"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/labels/audit"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/run"
)

// Folder is the folder of a run with what its audit has made: the scores of nets of folds, and the page.
const Folder = "audit"

// Audit looks through the labels of a finished run: it holds the run's data, with scores of training bags by
// nets that have not learned them. It must be closed, and must not be used by several goroutines at once.
//
//	a, err := runaudit.Open(ctx, "runs/mine", runaudit.Options{})
//	if err != nil {
//		return err
//	}
//	defer a.Close()
//	scores, err := a.Scores(ctx)                      // of the run
//	if err == nil && !scores.Complete() {
//		scores, err = a.TrainFolds(ctx, a.Offer(2, 0)) // or scores of nets of two folds
//	}
//	if err != nil {
//		return err
//	}
//	found, err := a.Rank(ctx, scores, audit.Options{Estimation: rates.DefaultOptions(), MinError: .5})
type Audit struct {
	Dir     string // of the run
	session *run.Session
	rows    map[string]int // of the training bags
	small   loader.Thumbnailer
	listed  *manifest.Manifest // that the data came from, once it was asked for
}

// Options are the settings of an audit, apart from the folder of a run.
type Options struct {
	run.Options
	Device  string // computes nets of folds; empty for the device of the run
	Threads int    // the number of CPU threads; 0 takes the run's
}

// Open opens the data of a finished run, all labels in memory. A folder without a run, one that was interrupted,
// and data that have changed since are refused with a *ConfigError.
func Open(ctx context.Context, dir string, o Options) (*Audit, error) {
	c, err := run.FinishedConfig(dir)
	if err != nil {
		return nil, err
	}
	c.Run.Precision = tensor.Auto // that of the run may be one that this device lacks
	c.Run.Device, c.Run.Threads = cmp.Or(o.Device, c.Run.Device), cmp.Or(o.Threads, c.Run.Threads)
	c.Run.LabelMemory = dataset.HoldAll
	o.Finished = dir
	s, err := run.Open(ctx, c, o.Options)
	if err != nil {
		return nil, err
	}
	a := &Audit{Dir: dir, session: s, rows: make(map[string]int, s.Data.Train.Len())}
	if err := a.check(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for row, id := range s.Data.Train.IDs {
		a.rows[id] = row
	}
	return a, nil
}

// check refuses data whose labels cannot be audited: others than the run has learned, or those that are not in memory.
func (a *Audit) check(ctx context.Context) error {
	s := a.session
	if s.Data.Train.Labels == nil {
		return setting.Errorf("", "%s: its labels are not held in memory, which an audit needs", s.Data.Train.Name)
	}
	if err := s.SameData(ctx, a.Dir); err != nil {
		return fmt.Errorf("an audit needs the data that the run has learned: %w", err)
	}
	return nil
}

// Close closes the data.
func (a *Audit) Close() error { return a.session.Close() }

// sets are the splits that there are, by the names that a manifest gives them.
func (a *Audit) sets(yield func(split string, set *loader.Set) bool) {
	d := a.session.Data
	for i, set := range []*loader.Set{d.Train, d.Validation, d.Test} {
		if set != nil && !yield([]string{"train", "validation", "test"}[i], set) {
			return
		}
	}
}

// Config is the configuration of the run.
func (a *Audit) Config() *run.Config { return &a.session.Config }

// Data are the data of the run.
func (a *Audit) Data() *dataset.Splits { return a.session.Data }

// Folder is the folder with the files of the audit.
func (a *Audit) Folder() string { return filepath.Join(a.Dir, Folder) }

// Lock keeps other audits of the run out until release is called; see run.Ranks.Lock.
func (a *Audit) Lock(ctx context.Context) (release func() error, err error) {
	return a.session.Ranks.Lock(ctx, a.Folder())
}

// Rank ranks the labels of the bags that have scores. Rates are estimated from the same scores unless the options name
// a file, which is read without calibration, as of nets that were trained through the noise model.
func (a *Audit) Rank(ctx context.Context, s *OutOfFold, o audit.Options) (*audit.Report, error) {
	train := a.session.Data.Train
	k := train.Vocabulary.Len()
	in := eval.Input{Bags: len(s.Bags), Classes: k, Scores: s.Logits, Logits: true, Words: train.Vocabulary.Texts(),
		IDs: make([]string, len(s.Bags)), Labels: chosen(train.Labels.Uint8s(), s.Bags, k)}
	for i, row := range s.Bags {
		in.IDs[i] = train.IDs[row]
	}
	if train.Truth != nil {
		in.Truth = chosen(train.Truth.Uint8s(), s.Bags, k)
	}
	if o.NoiseRates == "" {
		o.Plain, o.Raise = s.Plain, s.Raised
		if v := a.session.Data.Verified; v != nil { // which calibrate scores, better than training through the rates did
			if o.Plain != nil {
				in.Scores, o.Plain = o.Plain, nil
			}
			o.Estimation.Verified = rates.Verify(v.Bags, v.Truth, train.Labels.Uint8s(), k, s.Bags)
		}
	}
	r, err := audit.Scores(ctx, &in, o)
	if err != nil {
		return nil, err
	}
	r.Samples = a.session.Config.Data.Samples()
	return r, nil
}

// Verify has Rank take a list of pictures with all their true labels in place of the list of the run.
func (a *Audit) Verify(ctx context.Context, file string) (err error) {
	a.session.Data.Verified, err = a.session.Data.ReadVerified(ctx, file)
	return err
}

// chosen are some rows of a matrix of k columns.
func chosen[T any](matrix []T, rows []int, k int) []T {
	out := make([]T, 0, len(rows)*k)
	for _, row := range rows {
		out = append(out, matrix[row*k:(row+1)*k]...)
	}
	return out
}

// HasPictures reports whether the bags hold pictures or clips.
func (a *Audit) HasPictures() bool { return a.session.Data.Train.Preview() != nil }

// Picture returns a small picture of a training bag, the middle frame of a clip, as JPEG. An error wraps
// loader.ErrCorrupt if it cannot be read, or the bag has none.
func (a *Audit) Picture(ctx context.Context, id string) ([]byte, error) {
	row, ok := a.rows[id]
	if !ok || !a.HasPictures() {
		return nil, fmt.Errorf("there is no picture of %q: %w", id, loader.ErrCorrupt)
	}
	small, err := a.small.Middle(ctx, a.session.Data.Train.Preview(), row)
	return small.JPEG, err
}
