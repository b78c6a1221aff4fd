package main

import (
	"context"
	"errors"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/kernels"
	"nmn/loader"
	"nmn/model"
	"nmn/rng"
	"nmn/text"
	"nmn/train"
)

// watcher is told how a measured training goes on.
type watcher struct {
	begin func(*model.Net) error     // before the first step; may be nil
	step  func(train.StepDone) error // behind each
	// end comes behind the last step, while net and trainer hold what training needs. The net's plan has
	// the batch of the steps. It may be nil.
	end func(*model.Net, *train.Trainer) error
}

// steps trains a fresh net for the warm-up and the measured steps, all on one random batch.
func (b *benchCommand) steps(ctx context.Context, backend kernels.Backend, w watcher) (err error) {
	net, err := b.fresh(backend)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, net.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	config := train.Paper()
	config.BatchBags, config.BatchBagsMIL = b.batch, b.batch
	config.Stage2Epochs, config.MaxSteps, config.Overfit = 0, b.warmup+b.repeats, true
	config.EvaluateEpochs, config.CheckpointEpochs = 0, 0
	config.LearningRate = 1e-12 // so small that the weights stay what they are
	set, err := b.randomSet(net.Config())
	if err != nil {
		return err
	}
	loading := loader.DefaultConfig()
	loading.Fit, loading.Workers, loading.Prefetch = loader.FitNone, 1, 1
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
	defer func() { err = firstError(err, trainer.Close()) }()
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
		return fmt.Errorf("%w: %w", errInterrupted, err)
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
		return nil, firstError(err, net.Close())
	}
	return net, nil
}

// randomSet is one batch of bags with random pixels, and one label in fifty.
func (b *benchCommand) randomSet(c model.Config) (*loader.Set, error) {
	words := make([]text.Word, c.Classes)
	for k := range words {
		words[k].Text = fmt.Sprint("class", k)
	}
	vocabulary, err := text.NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	stream := rng.New(1)
	labels := make([]uint8, b.batch*c.Classes)
	for i := range labels {
		if stream.Uniform(0, 1) < .02 {
			labels[i] = 1
		}
	}
	ids := make([]string, b.batch)
	for i := range ids {
		ids[i] = fmt.Sprint("bag", i)
	}
	return &loader.Set{
		Name: "random", Vocabulary: vocabulary, IDs: ids, Source: noisePictures{c.Size, b.frames},
		Labels: dense.New(dense.WithShape(b.batch, c.Classes), dense.WithBacking(labels)),
	}, nil
}

// noisePictures is a source of pictures without any meaning.
type noisePictures struct{ size, frames int }

// Frames implements loader.Source.
func (s noisePictures) Frames(int) int { return s.frames }

// Read implements loader.Source.
func (s noisePictures) Read(_ context.Context, bag, frame int, picture *loader.Picture) error {
	bytes := s.size * s.size * 3
	if cap(picture.Pix) < bytes {
		picture.Pix = make([]uint8, bytes)
	}
	picture.Width, picture.Height, picture.Pix = s.size, s.size, picture.Pix[:bytes]
	stream := rng.New(1, bag, frame)
	for i := range picture.Pix {
		picture.Pix[i] = uint8(stream.Uint32())
	}
	return nil
}
