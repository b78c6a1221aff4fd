package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/model"
	"nmn/train"
)

// dryRun builds everything, makes a few steps without saving anything, and prints the plan. What is
// known before the steps is printed before them: those of a large network take a while.
func dryRun(ctx context.Context, p *program, c *config, s *session) error {
	arms, err := c.plannedArms()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.out, "device      %s\n%s\n", s.backend.Name(), s.data.describe()); err != nil {
		return err
	}
	if s, err = s.at(ctx, c); err != nil {
		return err
	}
	total := time.Duration(0)
	for _, a := range arms {
		duration, err := planArm(ctx, p, c, s, a)
		if err != nil {
			return err
		}
		total += duration
	}
	settings := c.settings()
	if line := settings.cost([]armName{c.Arm}); line != "" {
		if settings.folds() > 0 {
			line += ", not counted below"
		}
		if _, err := fmt.Fprintf(p.out, "recipe      %s\n", line); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.out, "in all      about %v, without validation; nothing was written\n", total.Round(time.Second))
	return err
}

// plannedArms are the arms that a run trains, in their order: stage 1, and the arm on top of it.
func (c *config) plannedArms() ([]train.Arm, error) {
	arm, err := c.Arm.trained(c.Net.MIL)
	if err != nil {
		return nil, err
	}
	if arm.Stage == 1 {
		return []train.Arm{arm}, nil
	}
	return []train.Arm{arm.First(), arm}, nil
}

// freshNet makes the net of an arm without a checkpoint: its speed does not depend on its start. That of stage 1
// takes the weights of --init, so that a file that a run would refuse is refused now.
func freshNet(c *config, s *session, arm train.Arm) (*model.Net, error) {
	initial := arm.Stage == 1
	arm.Stage = 1
	net, err := arm.NewNet(c.Net.model(s.data.train.Vocabulary.Len(), s.data.width(), arm.Noise), s.backend, c.Train, s.data.train, "")
	if err != nil || !initial || c.Net.Weights == "" {
		return net, err
	}
	if err := s.loadWeights(net, &c.Net, s.data.train.Vocabulary); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return net, nil
}

// planArm prints the plan of one arm, and returns how long its training will take.
func planArm(ctx context.Context, p *program, c *config, s *session, arm train.Arm) (duration time.Duration, err error) {
	net, err := freshNet(c, s, arm)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	census, err := s.data.train.Census(ctx)
	if err != nil {
		return 0, err
	}
	parameters, noise := net.Config().Parameters()
	batch := c.Train.Batch(arm.MIL) * c.Train.Accumulate * census.Frames / census.Bags // pictures
	flop := 0.0
	for _, l := range net.Layers() {
		flop += l.TrainFLOP * float64(batch)
	}
	if _, err := fmt.Fprintf(p.out, "%-11s %.2f M parameters and %d of the noise model, %.2f GFLOP a step of %d pictures\n",
		arm.Name, float64(parameters)/1e6, noise, flop/1e9, batch); err != nil {
		return 0, err
	}
	if err := tellChunks(p, c, census.Longest, net); err != nil {
		return 0, err
	}
	m, err := measureNet(ctx, c, s, arm, net)
	if err != nil {
		return 0, err
	}
	duration = m.step * time.Duration(m.steps)
	_, err = fmt.Fprintf(p.out, "            %.0f MiB, %d steps of %.1f ms (%.3g images/s, %.1f GFLOP/s): about %v\n",
		float64(m.memory)/(1<<20), m.steps, m.step.Seconds()*1e3, float64(batch)/m.step.Seconds(), flop/m.step.Seconds()/1e9, duration.Round(time.Second))
	return duration, err
}

// The first of the steps that are timed also makes buffers, and other programs may disturb some; the
// fastest counts. Where one takes long, there is no second.
const (
	measureSteps = 12
	measureTime  = 15 * time.Second
)

// measured is what steps tell.
type measured struct {
	memory int           // bytes on the device
	step   time.Duration // of the fastest
	steps  int           // of the stage
}

// measure times steps of an arm.
func measure(ctx context.Context, c *config, s *session, arm train.Arm) (m measured, err error) {
	net, err := freshNet(c, s, arm)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return measureNet(ctx, c, s, arm, net)
}

func measureNet(ctx context.Context, c *config, s *session, arm train.Arm, net *model.Net) (m measured, err error) {
	settings := c.Train
	settings.MaxSteps, settings.EvaluateEpochs, settings.EvaluateSteps, settings.Patience = measureSteps, 0, 0, 0
	inner, enough := context.WithCancel(ctx)
	defer enough()
	began := time.Now()
	trainer, err := train.New(train.Options{
		Config: settings, Stage: arm.Stage, Net: net, Data: s.data.train, Loader: c.loader(),
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if m.step == 0 || e.Duration < m.step {
				m.step = e.Duration
			}
			if time.Since(began) > measureTime {
				enough()
			}
		}}},
	})
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if _, err := trainer.Run(inner); err != nil && (ctx.Err() != nil || !errors.Is(err, train.ErrInterrupted)) {
		if errors.Is(err, train.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", errInterrupted, err)
		}
		return m, err
	}
	limits := c.Train
	if c.Arm.rival() {
		limits = bothStages(limits)
	}
	m.memory, m.steps = trainer.DeviceBytes(), limits.Epochs(arm.Stage)*trainer.StepsPerEpoch()
	if limit := limits.MaxSteps; limit > 0 && (m.steps == 0 || limit < m.steps) {
		m.steps = limit
	}
	return m, nil
}
