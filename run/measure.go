package run

import (
	"cmp"
	"context"
	"errors"
	"time"

	"nmn/model"
	"nmn/recipe"
	"nmn/train"
)

// PlannedArms are the arms that a run trains, in their order: stage 1, and the arm on top of it.
func (c *Config) PlannedArms() ([]train.Arm, error) {
	arm, err := c.Arm.TrainArm(c.Net.MIL)
	if err != nil {
		return nil, err
	}
	if arm.Stage == 1 {
		return []train.Arm{arm}, nil
	}
	return []train.Arm{arm.First(), arm}, nil
}

// FreshNet makes the net of an arm without a checkpoint: its speed does not depend on its start. That of stage 1
// takes the weights of the file in Net.Weights, so that a file that a run would refuse is refused now.
func (s *Session) FreshNet(arm train.Arm) (*model.Net, error) {
	c := &s.Config
	initial := arm.Stage == 1
	arm.Stage = 1
	net, err := arm.NewNet(c.Net.Model(s.Data.Train.Vocabulary.Len(), s.Data.Width(), arm.Noise), s.Backend, c.Train,
		s.Data.Train, "")
	if err != nil || !initial || c.Net.Weights == "" {
		return net, err
	}
	if err := s.LoadWeights(net, &c.Net, s.Data.Train.Vocabulary); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return net, nil
}

// MeasureSteps is how many steps are timed at most, and MeasureTime how long. The first of the steps also makes
// buffers, and other programs may disturb some, so the fastest counts. Where one takes long, there is no second.
const (
	MeasureSteps = 12
	MeasureTime  = 15 * time.Second
)

// Measured is what timed steps have shown.
type Measured struct {
	Memory int           // bytes on the device
	Step   time.Duration // of the fastest
	Steps  int           // of the stage
}

// Measure times steps of an arm.
func (s *Session) Measure(ctx context.Context, arm train.Arm) (m Measured, err error) {
	net, err := s.FreshNet(arm)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return s.MeasureNet(ctx, arm, net)
}

// MeasureNet times steps of an arm as Measure does, with a net that is there already and whose weights change.
func (s *Session) MeasureNet(ctx context.Context, arm train.Arm, net *model.Net) (m Measured, err error) {
	c := &s.Config
	settings := c.Train
	settings.MaxSteps, settings.EvaluateEpochs, settings.EvaluateSteps, settings.Patience = MeasureSteps, 0, 0, 0
	inner, enough := context.WithCancel(ctx)
	defer enough()
	began := time.Now()
	trainer, err := train.New(train.Options{
		Config: settings, Stage: arm.Stage, Net: net, Data: s.Data.Train, Loader: c.Loader(),
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if m.Step == 0 || e.Duration < m.Step {
				m.Step = e.Duration
			}
			if time.Since(began) > MeasureTime {
				enough()
			}
		}}},
	})
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	if _, err := trainer.Run(inner); err != nil && (ctx.Err() != nil || !errors.Is(err, train.ErrInterrupted)) {
		return m, Interrupted(err)
	}
	limits := c.Train
	if c.Arm.Rival() {
		limits = recipe.BothStages(limits)
	}
	m.Memory, m.Steps = trainer.DeviceBytes(), limits.Epochs(arm.Stage)*trainer.StepsPerEpoch()
	if limit := limits.MaxSteps; limit > 0 && (m.Steps == 0 || limit < m.Steps) {
		m.Steps = limit
	}
	return m, nil
}
