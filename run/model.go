package run

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/origin"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	runfeatures "nmn/run/features"
	"nmn/text"
	"nmn/train"
)

// Model is a trained net on a device. It predicts the words of pictures and features, extracts the outputs of
// its layers for them, and is evaluated on the data of its run. It must be closed, and must not be used by
// several goroutines at once.
type Model struct {
	net        *model.Net
	checkpoint *train.Checkpoint
	vocabulary *text.Vocabulary
	file       string // the checkpoint
	folder     string // that it lies in, often that of a run

	backbone *runfeatures.Backbone // once it was needed; nil for none

	session *Session // with the device, and the data of the run once they are needed
	owned   bool     // the session exists for this model alone
}

// ModelOptions say which checkpoint of a run folder is opened, and on which device.
type ModelOptions struct {
	Checkpoint Checkpoint // that of a run folder; empty for the last one
	// Run is the device with its threads, and how many workers read pictures; the zero value takes the fastest device
	// and the default of everything else.
	Run     Resources
	Log     *slog.Logger  // nil for nowhere
	Message func(Message) // called with the name of the device; may be nil
}

// OpenModel opens the model of a run folder, or of a checkpoint file. An error that wraps *ConfigError is a mistake in
// path or options.
func OpenModel(ctx context.Context, path string, o ModelOptions) (*Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, folder, err := FindCheckpoint(path, o.Checkpoint)
	if err != nil {
		return nil, err
	}
	s := o.session()
	if o.Run.Precision == tensor.BF16 {
		checkpoint, err := train.ReadCheckpoint(file)
		if err != nil {
			return nil, err
		}
		s.forward = checkpoint.Backbone != nil
	}
	if err := s.openDevice(); err != nil {
		return nil, err
	}
	m, err := openModel(s, file, folder)
	if err != nil {
		return nil, cmp.Or(err, s.Close())
	}
	m.owned = true
	return m, nil
}

// session is one for a net alone, without a device.
func (o *ModelOptions) session() *Session {
	s, base := newSession(Options{Log: o.Log, Observer: Observer{Message: o.Message}}), BaseConfig().Run
	s.Config.Run = o.Run
	s.Config.Run.Workers = cmp.Or(o.Run.Workers, base.Workers)
	s.Config.Run.Prefetch = cmp.Or(o.Run.Prefetch, base.Prefetch)
	return s
}

// OpenModel opens a model on the device of the session, whose data it is evaluated on then. It must be closed before
// the session.
func (s *Session) OpenModel(path string, which Checkpoint) (*Model, error) {
	file, folder, err := FindCheckpoint(path, which)
	if err != nil {
		return nil, err
	}
	return openModel(s, file, folder)
}

func openModel(s *Session, file, folder string) (*Model, error) {
	net, checkpoint, err := train.OpenNet(file, s.Backend)
	if err != nil {
		return nil, err
	}
	m := &Model{net: net, checkpoint: checkpoint, file: file, folder: folder, session: s}
	if m.vocabulary, err = checkpoint.Vocabulary(); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return m, nil
}

// Close gives back the memory of the net, and the device and data that were opened for it.
func (m *Model) Close() error {
	err := m.net.Close()
	if m.backbone != nil {
		err = cmp.Or(err, m.backbone.Close())
	}
	if m.owned {
		err = cmp.Or(err, m.session.Close())
	}
	return err
}

// Vocabulary has the words of the model, in the order of its classes.
func (m *Model) Vocabulary() *text.Vocabulary { return m.vocabulary }

// Checkpoint returns what the model's file holds in addition to its weights.
func (m *Model) Checkpoint() *train.Checkpoint { return m.checkpoint }

// Net is the net itself. It is closed with the model.
func (m *Model) Net() *model.Net { return m.net }

// File is the path of the checkpoint.
func (m *Model) File() string { return m.file }

// TakesFeatures reports whether the model takes vectors of features instead of pictures. One with a backbone takes
// pictures.
func (m *Model) TakesFeatures() bool { return m.net.Config().Input > 0 && m.checkpoint.Backbone == nil }

// openData opens the data of the run that the model is from, unless its session has data already. labelMemory is how
// many MiB of their labels are held, 0 for as many as the run says.
func (m *Model) openData(ctx context.Context, labelMemory int) (*Session, error) {
	s := m.session
	if s.Data != nil {
		return s, nil
	}
	if !durable.Exists(filepath.Join(m.folder, ConfigFile)) {
		return nil, setting.Errorf("",
			"%s lies in no run folder, which would name its data: open a session on the data, and the model there", m.file)
	}
	var c Config
	if err := (Sources{}).ResolveFolder(m.folder, &c); err != nil {
		return nil, err
	}
	labelMemory = cmp.Or(labelMemory, c.Run.LabelMemory)
	c.Run = s.Config.Run // the device that is open
	c.Run.LabelMemory = labelMemory
	data, err := c.OpenData(ctx, dataset.Options{Log: s.Log})
	if err != nil {
		return nil, err
	}
	if err := m.compareData(ctx, &c, data, s.Log); err != nil {
		return nil, err
	}
	s.Config, s.Data = c, data
	return s, s.takeFeatures(ctx, FeaturesOf(m.folder), false, nil)
}

// compareData warns where the files of the data are others than those that the run has learned from: what is measured
// on them then says nothing of the figures of the run.
func (m *Model) compareData(ctx context.Context, c *Config, d *dataset.Splits, log *slog.Logger) error {
	then, err := origin.Load(filepath.Join(m.folder, DataFile))
	if err != nil || then == nil {
		return err
	}
	now, err := c.files(ctx, d)
	if err != nil {
		return err
	}
	_, difference, err := now.Since(ctx, then)
	if err == nil && difference != nil {
		log.Warn("the data are not those that this run has learned from", "file", difference.Text, "others", difference.More)
	}
	return err
}

// split returns a split of the data of the model's session or run, with the words of the model. It also
// returns the session that has the data, and the configuration that the split is read with.
func (m *Model) split(ctx context.Context, name string) (*loader.Set, *Session, *Config, error) {
	memory := 0
	if name == "train" {
		memory = dataset.HoldAll
	}
	s, err := m.openData(ctx, memory)
	if err != nil {
		return nil, nil, nil, err
	}
	set, err := s.Data.Split(name)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := SameClasses(m.checkpoint, set.Vocabulary); err != nil {
		return nil, nil, nil, err
	}
	c := s.Config
	c.Net.MIL = m.checkpoint.Model.MIL // which says how pictures fit, and what a bag is
	c.ReadAsTrained(m.checkpoint)
	return set, s, &c, nil
}

// Pictures says how the model reads pictures: as it was trained.
func (m *Model) Pictures() train.Pictures { return picturesOf(m.checkpoint) }

// reads sets how a loader reads pictures for the model; fit is one that is given, empty for that of the model.
func (m *Model) reads(l *loader.Config, fit picture.Fit) {
	p := m.Pictures()
	l.Fit, l.Resize, l.Orientation = cmp.Or(fit, p.Fit), p.Resize, p.Orientation
}

// isPaper reports whether a preset keeps to the protocol of the paper.
func isPaper(name PresetName) bool { return name == PaperCOCOPreset || name == PaperMSRVTTPreset }

// picturesOf is how a net was trained to read pictures; what nets are usually trained with for one on features.
func picturesOf(checkpoint *train.Checkpoint) train.Pictures {
	if p := checkpoint.Pictures; p != nil {
		return *p
	}
	return train.Pictures{Fit: picture.FitSquare, Resize: picture.FilterBilinear, Orientation: picture.OrientationIgnore}
}

// ReadAsTrained makes a configuration read pictures as a net was trained, but for what was given.
func (c *Config) ReadAsTrained(checkpoint *train.Checkpoint) {
	p := picturesOf(checkpoint)
	if checkpoint.Pictures != nil {
		c.Data.Fit = cmp.Or(c.Data.Fit, p.Fit)
	}
	if c.Data.Resize == "" || c.LeftOpen("data.resize") {
		c.Data.Resize = p.Resize
	}
	if c.Data.Orientation == "" || c.LeftOpen("data.orientation") {
		c.Data.Orientation = p.Orientation
	}
}

// Checkpoint chooses one of the checkpoints of a run folder.
type Checkpoint string

// The checkpoints of a run folder.
const (
	Last Checkpoint = "last" // after the last step
	Best Checkpoint = "best" // after the best validation
)

// FindCheckpoint finds the checkpoint that a path names, itself a file or a run folder, and the folder that it lies in.
func FindCheckpoint(path string, which Checkpoint) (file, folder string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", fmt.Errorf("cannot find the model: %w", err)
	}
	if !info.IsDir() {
		return path, filepath.Dir(path), nil
	}
	name := train.LastName
	if which == Best {
		name = train.BestName
	}
	file = filepath.Join(path, name)
	if !durable.Exists(file) {
		return "", "", setting.Errorf("", "%s holds no %s: name a run folder or a checkpoint file", path, name)
	}
	return file, path, nil
}

// SameClasses checks that a model and data have the same words in the same order.
func SameClasses(c *train.Checkpoint, v *text.Vocabulary) error {
	if len(c.Words) != v.Len() {
		return fmt.Errorf("the model has %d classes, the vocabulary of the data %d: give the vocabulary that it was "+
			"trained with (`data.vocabulary`)", len(c.Words), v.Len())
	}
	for i, w := range c.Words {
		if here := v.Word(i).Text; here != w.Text {
			return fmt.Errorf("class %d of the model is %q, the vocabulary of the data has %q: give the vocabulary that it "+
				"was trained with (`data.vocabulary`)", i+1, w.Text, here)
		}
	}
	return nil
}
