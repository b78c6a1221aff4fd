package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// watcher is told how a measured training goes on.
type watcher struct {
	begin func(*model.Net) error     // before the first step; may be nil
	step  func(train.StepDone) error // behind each
	// end comes behind the last step, while net and trainer hold what training needs. The net's plan has
	// the last batch. It may be nil.
	end func(*model.Net, *train.Trainer) error
}

// steps trains a fresh net for the warm-up and the measured steps, on random pictures.
func (b *benchCommand) steps(ctx context.Context, backend kernels.Backend, w watcher) (err error) {
	net, err := b.fresh(backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	config := train.Paper()
	config.BatchBags, config.BatchBagsMIL = b.batch, b.batch
	config.Stage2Epochs, config.MaxSteps = 0, b.warmup+b.repeats
	config.EvaluateEpochs, config.CheckpointEpochs = 0, 0
	config.LearningRate = 1e-12 // so small that the weights stay what they are
	set, err := b.randomSet(net.Config())
	if err != nil {
		return err
	}
	loading := loader.DefaultConfig()
	loading.Fit = picture.FitNone
	var failed error
	trainer, err := train.New(train.Options{
		Config: config, Stage: 2, Net: net, Data: set, Loader: loading,
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if failed = w.step(e); failed != nil {
				stop()
			}
		}}},
	})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if w.begin != nil {
		if err := w.begin(net); err != nil {
			return err
		}
	}
	_, err = trainer.Run(ctx)
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, train.ErrInterrupted):
		return fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	case err == nil && w.end != nil:
		return w.end(net, trainer)
	}
	return err
}

// fresh is the net with random weights.
func (b *benchCommand) fresh(backend kernels.Backend) (*model.Net, error) {
	net, err := model.New(b.net(), backend)
	if err != nil {
		return nil, err
	}
	if err := net.Init(model.PaperInit(1)); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return net, nil
}

// epochSteps is the number of batches of random pictures. The first step of an epoch waits for its
// pictures, the others have theirs uploaded before.
const epochSteps = 64

// randomSet is pictures without any meaning, with one label in fifty.
func (b *benchCommand) randomSet(c model.Config) (*loader.Set, error) {
	words := make([]text.Word, c.Classes)
	for k := range words {
		words[k].Text = fmt.Sprint("class", k)
	}
	vocabulary, err := text.NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	stream, bags := rng.New(1), b.batch*min(b.warmup+b.repeats, epochSteps)
	labels := make([]uint8, bags*c.Classes)
	for i := range labels {
		if stream.Uniform(0, 1) < .02 {
			labels[i] = 1
		}
	}
	ids := make([]string, bags)
	for i := range ids {
		ids[i] = fmt.Sprint("bag", i)
	}
	return &loader.Set{
		Name: "random", Vocabulary: vocabulary, IDs: ids, Source: newRandomPictures(c.Size, b.frames),
		Labels: dense.New(dense.WithShape(bags, c.Classes), dense.WithBacking(labels)),
	}, nil
}

// randomPictures is a source that costs next to nothing: all pictures are parts of the same noise.
type randomPictures struct {
	size, frames int
	noise        []uint8 // somewhat longer than a picture
}

func newRandomPictures(size, frames int) *randomPictures {
	const more = 4096
	s := &randomPictures{size: size, frames: frames, noise: make([]uint8, size*size*3+more)}
	stream := rng.New(2)
	for i := range s.noise {
		s.noise[i] = uint8(stream.Uint32())
	}
	return s
}

// Frames implements loader.Source.
func (s *randomPictures) Frames(int) int { return s.frames }

// Read implements loader.Source.
func (s *randomPictures) Read(_ context.Context, bag, frame int, pic *picture.Picture) error {
	bytes := s.size * s.size * 3
	from := (bag*s.frames + frame) * 61 % (len(s.noise) - bytes)
	pic.Width, pic.Height = s.size, s.size
	pic.Pix = append(pic.Pix[:0], s.noise[from:from+bytes]...)
	return nil
}
