package captioner

import (
	"cmp"
	"context"
	"errors"
	"time"

	"nmn/captioning"
	"nmn/run"
	"nmn/train"
)

// Measure times a few steps without saving anything. The step that it returns is their mean, for captions differ in
// length; the steps are those of the whole training, and validation is not in it.
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
	began, taken, counted := time.Now(), time.Duration(0), 0
	o.Config.MaxSteps = run.MeasureSteps
	o.Observers = []captioning.Observer{{Step: func(e captioning.StepDone) {
		if e.Step > 1 { // the first one makes buffers
			taken, counted = taken+e.Duration, counted+1
		}
		if time.Since(began) > run.MeasureTime {
			enough()
		}
	}}}
	trainer, err := captioning.New(o)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if _, err := trainer.Run(inner); err != nil && (ctx.Err() != nil || !errors.Is(err, train.ErrInterrupted)) {
		return m, err
	}
	return run.Measured{Step: taken / time.Duration(max(counted, 1)), Memory: trainer.DeviceBytes(),
		Steps: s.Config.Train.Steps(trainer.Batches())}, nil
}
