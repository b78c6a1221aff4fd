package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/captioning"
	"nmn/run"
	"nmn/train"
)

// plan makes a few steps without saving anything, and prints what training will take.
func (r *captionRun) plan(ctx context.Context) error {
	out, c := r.program.out, r.model()
	if _, err := fmt.Fprintf(out, "device      %s\nclips       %d with %d captions, up to %d frames of %d features\nwords       %d and the four that are none\nnet         %.2f M parameters\n",
		r.backend.Name(), r.train.Clips(), r.train.Pairs(), c.Frames, c.Features, r.words.AtLeast(0), c.Parameters()/1e6); err != nil {
		return err
	}
	fastest, memory, steps, err := r.measure(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "training    %.0f MiB, %d steps of %.1f ms: about %v, without validation; nothing was written\n",
		float64(memory)/(1<<20), steps, fastest.Seconds()*1e3, (fastest * time.Duration(steps)).Round(time.Second))
	return err
}

// measure times a few steps, of which the mean counts: captions differ in length. steps are those of the whole
// training.
func (r *captionRun) measure(ctx context.Context) (step time.Duration, memory, steps int, err error) {
	net, err := r.newNet()
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	o := r.options(net)
	o.Directory, o.Validate, o.Config.ValidateEpochs, o.Config.Patience = "", nil, 0, 0
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
		return 0, 0, 0, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if _, err := trainer.Run(inner); err != nil && (ctx.Err() != nil || !errors.Is(err, train.ErrInterrupted)) {
		return 0, 0, 0, err
	}
	return taken / time.Duration(max(counted, 1)), trainer.DeviceBytes(), r.config.Train.Steps(trainer.Batches()), nil
}
