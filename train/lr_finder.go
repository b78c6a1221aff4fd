package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// FindLearningRate makes the steps that a Trainer with these options would make first, at the rates of the
// sweep instead of the schedule, until the loss has grown out of bounds. Earlier it makes the same steps at a
// rate that changes no weight, with equal batches and dropout. The difference separates the effect of the
// sweep from the variation between batches. The weights of the net change. Nothing is written, validated or
// averaged. The result depends on the options alone, as the result of a Trainer does.
func FindLearningRate(ctx context.Context, o Options, sweep LearningRateSweep) (*LearningRateSearch, error) {
	if !(sweep.First > 0 && sweep.Last > sweep.First) || sweep.Steps < 2 {
		return nil, fmt.Errorf("training: a sweep of %d steps from %g to %g: want at least 2, to a higher rate",
			sweep.Steps, sweep.First, sweep.Last)
	}
	c := &o.Config
	c.Stage1Epochs, c.Stage2Epochs, c.MaxSteps, c.LogSteps = 0, 0, sweep.Steps, sweep.Steps
	c.EvaluateEpochs, c.EvaluateSteps, c.Patience, c.EMA = 0, 0, 0, 0
	o.Directory, o.Validation, o.Online, o.AfterEpoch = "", nil, nil, nil
	var finder learningRateFinder
	_, err := o.sweep(ctx, LearningRateSweep{noRate, 2 * noRate, sweep.Steps}, func(e StepDone) (over bool) {
		finder.starts = append(finder.starts, e.Loss)
		return false
	})
	if err != nil {
		return nil, err
	}
	over, err := o.sweep(ctx, sweep, func(e StepDone) bool { return finder.add(e.Step, e.LearningRate, e.Loss) })
	if err != nil {
		return nil, err
	}
	return finder.search(over), nil
}

// noRate is a learning rate that float32 can represent and that changes no weight by a bit, except zeros.
const noRate = 1e-30

// sweep makes steps at the rates of a sweep until see returns true or the loss is not a number.
func (o Options) sweep(ctx context.Context, rates LearningRateSweep,
	see func(StepDone) (over bool)) (over bool, err error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	o.Observers = append(o.Observers[:len(o.Observers):len(o.Observers)], Observer{Step: func(e StepDone) {
		if see(e) {
			over = true
			stop()
		}
	}})
	t, err := New(o)
	if err != nil {
		return false, err
	}
	defer func() { err = cmp.Or(err, t.Close()) }()
	t.updater.schedule.sweep = &rates
	_, err = t.Run(inner)
	var broken *NonFiniteError
	switch {
	case err == nil || over && errors.Is(err, ErrInterrupted):
	case rates.First != noRate && errors.As(err, &broken):
		over = true
	default:
		return false, err
	}
	return over, t.ranks.agree(context.Cause(ctx)) // the context of one rank may have ended at the last step
}
