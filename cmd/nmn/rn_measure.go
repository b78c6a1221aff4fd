package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"nmn/model"
	"nmn/train"
	"time"
)

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
func (s *session) freshNet(c *config, arm train.Arm) (*model.Net, error) {
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
func (s *session) measure(ctx context.Context, c *config, arm train.Arm) (m measured, err error) {
	net, err := s.freshNet(c, arm)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return s.measureNet(ctx, c, arm, net)
}

func (s *session) measureNet(ctx context.Context, c *config, arm train.Arm, net *model.Net) (m measured, err error) {
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
