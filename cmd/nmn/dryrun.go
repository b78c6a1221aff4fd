package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/train"
)

// plan is what a dry run tells.
type plan struct {
	arm        train.Arm
	parameters int
	noise      int
	trainFLOP  float64 // of one picture
	memory     int     // bytes on the device
	step       time.Duration
	steps      int // of the stage
}

// dryRun builds everything, makes a few steps without saving anything, and prints the plan.
func dryRun(ctx context.Context, p *program, c *config, s *session) error {
	arm, err := c.Arm.trained(c.Net.MIL)
	if err != nil {
		return err
	}
	plans := make([]plan, 0, 2)
	for _, a := range []train.Arm{arm.First(), arm} {
		if len(plans) == 1 && arm.Stage == 1 {
			break
		}
		one, err := measure(ctx, c, s, a)
		if err != nil {
			return err
		}
		plans = append(plans, one)
	}
	fmt.Fprintf(p.out, "device      %s\n%s\n", s.backend.Name(), s.data.describe())
	total := time.Duration(0)
	for _, one := range plans {
		batch := c.Train.Batch(arm.MIL) * c.Train.Accumulate
		duration := one.step * time.Duration(one.steps)
		total += duration
		fmt.Fprintf(p.out, "%-11s %.2f M parameters and %d of the noise model, %.0f MiB, %.2f GFLOP a step of %d pictures,\n"+
			"            %d steps of %.1f ms (%.0f images/s, %.1f GFLOP/s): about %v\n",
			one.arm.Name, float64(one.parameters)/1e6, one.noise, float64(one.memory)/(1<<20), one.trainFLOP*float64(batch)/1e9, batch,
			one.steps, one.step.Seconds()*1e3, float64(batch)/one.step.Seconds(), one.trainFLOP*float64(batch)/one.step.Seconds()/1e9, duration.Round(time.Second))
	}
	_, err = fmt.Fprintf(p.out, "in all      about %v, without validation; nothing was written\n", total.Round(time.Second))
	return err
}

// measureSteps is how many steps are made to time one: the first also makes buffers.
const measureSteps = 3

// measure times steps of an arm, which starts at random: its speed does not depend on its start.
func measure(ctx context.Context, c *config, s *session, arm train.Arm) (result plan, err error) {
	first := arm
	first.Stage = 1 // no checkpoint is needed
	net, err := first.NewNet(c.Net.model(s.data.train.Vocabulary.Len(), arm.Noise), s.backend, c.Train, s.data.train, "")
	if err != nil {
		return result, err
	}
	defer func() { err = firstError(err, net.Close()) }()
	settings := c.Train
	settings.MaxSteps, settings.EvaluateEpochs, settings.EvaluateSteps = measureSteps, 0, 0
	fastest := time.Duration(0)
	trainer, err := train.New(train.Options{
		Config: settings, Stage: arm.Stage, Net: net, Data: s.data.train, Loader: c.loader(),
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if fastest == 0 || e.Duration < fastest {
				fastest = e.Duration
			}
		}}},
	})
	if err != nil {
		return result, err
	}
	defer func() { err = firstError(err, trainer.Close()) }()
	if _, err := trainer.Run(ctx); err != nil {
		if errors.Is(err, train.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", errInterrupted, err)
		}
		return result, err
	}
	result = plan{arm: arm, memory: trainer.DeviceBytes(), step: fastest, steps: c.Train.Epochs(arm.Stage) * trainer.StepsPerEpoch()}
	if limit := c.Train.MaxSteps; limit > 0 && (result.steps == 0 || limit < result.steps) {
		result.steps = limit
	}
	result.parameters, result.noise = net.Config().Parameters()
	for _, l := range net.Layers() {
		result.trainFLOP += l.TrainFLOP
	}
	return result, nil
}
