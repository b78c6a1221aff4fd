package measure

import (
	"cmp"
	"context"
	"errors"

	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/run"
	"nmn/train"
)

// watcher follows a training that is measured.
type watcher struct {
	begin func(*model.Net) error     // before the first step; may be nil
	step  func(train.StepDone) error // after each
	// end comes after the last step, while net and trainer hold what training needs. The net's plan has
	// the last batch. It may be nil.
	end func(*model.Net, *train.Trainer) error
}

// train trains a fresh net for the warm-up and the measured steps, on random pictures.
func (o Options) train(ctx context.Context, backend kernels.Backend, n Net, w watcher) (err error) {
	net, err := n.fresh(backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	config := train.Paper()
	config.BatchSize, config.BatchSizeMIL = n.Batch, n.Batch
	config.Stage2Epochs, config.MaxSteps = 0, o.Warmup+o.Repeats
	config.EvaluateEpochs, config.CheckpointEpochs = 0, 0
	config.LearningRate = 1e-12 // so small that the weights stay what they are
	config.LearningRates = train.ClassifierRates(net.Config().Classifier())
	set, err := randomSet(net.Config(), n.Batch*min(o.Warmup+o.Repeats, epochSteps), n.bagFrames())
	if err != nil {
		return err
	}
	loading := loader.DefaultConfig()
	loading.Fit = picture.FitNone
	var failed error
	trainer, err := train.New(train.Options{
		Config: config, Stage: 2, Net: net, Data: set, Loader: loading, Group: o.Group,
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
		return run.Interrupted(err)
	case err == nil && w.end != nil:
		return w.end(net, trainer)
	}
	return err
}

func (n Net) fresh(backend kernels.Backend) (*model.Net, error) {
	net, err := model.New(n.Model(), backend)
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
