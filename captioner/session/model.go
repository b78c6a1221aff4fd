package session

import (
	"context"
	"path/filepath"

	"nmn/captioner"
	"nmn/captioner/s2vt"
	"nmn/internal/durable"
	"nmn/kernels"
	"nmn/run"
	"nmn/train"
)

// FindCheckpoint finds the checkpoint that a path names, a file or a run folder. A run in which nothing was held out
// has no best one, and then the last is taken.
func FindCheckpoint(path string, which run.Checkpoint) (file string, err error) {
	if which == run.Best && !durable.Exists(filepath.Join(path, train.BestName)) &&
		durable.Exists(filepath.Join(path, train.LastName)) {
		which = run.Last
	}
	file, _, err = run.FindCheckpoint(path, which)
	return file, err
}

// Model is a captioner that was trained, on a device.
type Model struct {
	*captioner.Checkpoint // what it was trained on

	net *s2vt.Net
}

// OpenModel opens a checkpoint. Close the model.
func OpenModel(file string, backend kernels.Backend) (*Model, error) {
	net, checkpoint, err := captioner.OpenNet(file, backend)
	if err != nil {
		return nil, err
	}
	return &Model{checkpoint, net}, nil
}

// Close gives back the net; the device is its owner's.
func (m *Model) Close() error { return m.net.Close() }

// HasWords compares the vocabulary of a file with the vocabulary of the model.
func (m *Model) HasWords(file string) error {
	words, err := captioner.ReadWords(file)
	if err != nil {
		return err
	}
	return m.Words.Same(words)
}

// Fits holds the frames of clips against those that the model was trained on. Clips that all have fewer frames are
// refused unless fewer allows them.
func (m *Model) Fits(clips captioner.FrameFeatures, fewer bool) error {
	return captioner.Fit(clips, m.Checkpoint.Model.Frames, m.Checkpoint.Model.Features, fewer)
}

// Caption makes a caption for each clip, in their order. progress, which may be nil, is called with the number of
// clips that are done.
func (m *Model) Caption(ctx context.Context, clips captioner.FrameFeatures, s Search,
	progress func(done int)) ([]captioner.Generated, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return captioner.Generate(ctx, m.net, m.Words, clips, s.Generation(), progress)
}
