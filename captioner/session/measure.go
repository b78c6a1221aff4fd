package session

import (
	"cmp"
	"context"
	"errors"
	"time"

	"nmn/captioner"
	"nmn/run"
	"nmn/train"
)

// stopwatch takes the mean over the steps with the most captions. The last step of an epoch may have a single
// caption and take no time. The first step allocates buffers, and counts only if there is no other.
type stopwatch struct {
	captions int // of the steps that count
	taken    time.Duration
	counted  int
	first    bool // the first step counts
}

func (w *stopwatch) see(e captioner.StepDone) {
	switch {
	case e.Captions > w.captions || e.Captions == w.captions && w.first:
		*w = stopwatch{captions: e.Captions, taken: e.Duration, counted: 1, first: e.Step == 1}
	case e.Captions == w.captions:
		w.taken, w.counted = w.taken+e.Duration, w.counted+1
	}
}

func (w *stopwatch) mean() time.Duration { return w.taken / time.Duration(max(w.counted, 1)) }

// Measure times a few steps without saving anything. In its result, bags are captions. The number of steps is
// for the whole training without validation.
func (s *Session) Measure(ctx context.Context) (m run.Measured, err error) {
	net, err := s.newNet()
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	o := s.trainerOptions(net, "")
	o.Validate, o.Config.ValidateEpochs, o.Config.Patience = nil, 0, 0
	inner, enough := context.WithCancel(ctx)
	defer enough()
	began, watch := time.Now(), stopwatch{}
	o.Config.MaxSteps = run.MeasureSteps
	o.Observers = []captioner.Observer{{Step: func(e captioner.StepDone) {
		watch.see(e)
		if time.Since(began) > run.MeasureTime {
			enough()
		}
	}}}
	trainer, err := captioner.New(o)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if err := trainer.Run(inner); err != nil && (ctx.Err() != nil || !errors.Is(err, train.ErrInterrupted)) {
		return m, err
	}
	return run.Measured{Step: watch.mean(), Bags: watch.captions, Batch: s.Config.Train.Batch,
		Mean:   float64(s.Data.Train.Pairs()) / float64(max(trainer.Batches(), 1)),
		Memory: trainer.DeviceBytes(), Steps: s.Config.Train.Steps(trainer.Batches())}, nil
}
