package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// FindLearningRate makes the steps of a sweep as a Trainer of the options would make its first, each at the rate of the
// sweep in the place of the schedule, until the loss has grown out of bounds. The weights of the net are not what they
// were; nothing is written, validated or averaged. The result depends on the options alone, as that of a Trainer does.
func FindLearningRate(ctx context.Context, o Options, sweep RateSweep) (found *RateSearch, err error) {
	if !(sweep.First > 0 && sweep.Last > sweep.First) || sweep.Steps < 2 {
		return nil, fmt.Errorf("training: a sweep of %d steps from %g to %g: want at least 2, to a higher rate",
			sweep.Steps, sweep.First, sweep.Last)
	}
	c := &o.Config
	c.Stage1Epochs, c.Stage2Epochs, c.MaxSteps, c.LogSteps = 0, 0, sweep.Steps, sweep.Steps
	c.EvaluateEpochs, c.EvaluateSteps, c.Patience, c.EMA = 0, 0, 0, 0
	o.Directory, o.Validation, o.Online, o.AfterEpoch = "", nil, nil, nil
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var finder rateFinder
	diverged := false
	o.Observers = append(o.Observers[:len(o.Observers):len(o.Observers)], Observer{Step: func(e StepDone) {
		if finder.add(e.Step, e.LearningRate, e.Loss) {
			diverged = true
			stop()
		}
	}})
	t, err := New(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, t.Close()) }()
	t.schedule.sweep = &sweep
	_, err = t.Run(inner)
	var broken *NonFiniteError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, err
	case errors.As(err, &broken):
		diverged = true
	case !diverged || !errors.Is(err, ErrInterrupted):
		return nil, err
	}
	return finder.search(diverged), nil
}
