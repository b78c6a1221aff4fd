package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nmn/internal/memory"
	"nmn/model"
	"nmn/recipe"
	"nmn/train"
)

// PlannedArms are the arms that a run trains, in their order: stage 1, and the arm on top of it.
func (c *Config) PlannedArms() ([]train.Arm, error) {
	arm, err := c.Arm.ForTraining(c.Net.MIL)
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
	net, _, err := arm.NewNet(c.model(s.Data.Train.Vocabulary.Len(), s.Data.Width(), arm.Noise), s.Backend, c.Train,
		s.Data.Train, "")
	if err != nil || !initial {
		return net, err
	}
	return s.loadWeights(net)
}

// BlankNet makes the net of an arm with weights of 0, for what follows from its shape: of a large net drawing weights
// takes longer than everything else. That of stage 1 reads the file in Net.Weights, so that a file that a run would
// refuse is refused now.
func (s *Session) BlankNet(arm train.Arm) (*model.Net, error) {
	c := &s.Config
	config, err := arm.Model(c.model(s.Data.Train.Vocabulary.Len(), s.Data.Width(), arm.Noise))
	if err != nil {
		return nil, err
	}
	config.Standardised = s.Data.Train.Standard != nil
	net, err := model.New(config, s.Backend)
	if err != nil || arm.Stage != 1 {
		return net, err
	}
	return s.loadWeights(net)
}

// MeasureSteps is how many steps are timed at most, and MeasureTime how long. The first of the steps also makes
// buffers, and other programs may disturb some, so the fastest of those with a full batch counts. Where one takes
// long, there is no second.
const (
	MeasureSteps = 12
	MeasureTime  = 15 * time.Second
)

// Measured is what timed steps have shown.
type Measured struct {
	Memory int           // bytes on the device
	Free   int64         // bytes of memory for them, where that is the CPU's and known; else 0
	Step   time.Duration // of the fastest of those with the most bags
	Bags   int           // of that step: fewer than Batch where the data have no full batch
	Images int           // of that step; an image is a frame
	Batch  int           // bags of a full step
	Mean   float64       // bags of a step of an epoch: the last one of an epoch may have fewer
	Steps  int           // of the stage
	// Estimated reports that no step was made: Step is estimated from operations and from the measured time
	// of the pass of one frame.
	Estimated bool
}

// Needs says how much memory the steps take on the device, and of how much, where that is known.
func (m *Measured) Needs() string { return needs(m.Memory, m.Free) }

func needs(used int, free int64) string {
	needed := fmt.Sprintf("%.0f MiB", float64(used)/(1<<20))
	if free == 0 {
		return needed
	}
	return fmt.Sprintf("%s of %.0f MiB that are free", needed, float64(free)/(1<<20))
}

// Full reports whether a full batch was timed.
func (m *Measured) Full() bool { return m.Bags >= m.Batch }

// Total is the time of all steps of the stage: each bag takes the same share of a step.
func (m *Measured) Total() time.Duration {
	return time.Duration(float64(m.Step) * float64(m.Steps) * m.Mean / float64(max(m.Bags, 1)))
}

// stopwatch finds the fastest of the steps with the most bags: the last one of an epoch may have a single one, and is
// done in no time.
type stopwatch struct {
	now   func() time.Time
	until time.Time // when it has seen enough
	best  train.StepDone
}

func newStopwatch(now func() time.Time, limit time.Duration) *stopwatch {
	return &stopwatch{now: now, until: now().Add(limit)}
}

// see takes a step, and reports whether it has seen enough.
func (w *stopwatch) see(e train.StepDone) (enough bool) {
	if e.Bags > w.best.Bags || e.Bags == w.best.Bags && e.Duration < w.best.Duration {
		w.best = e
	}
	return w.now().After(w.until)
}

// Measure times steps of an arm.
func (s *Session) Measure(ctx context.Context, arm train.Arm) (m Measured, err error) {
	net, err := s.FreshNet(arm)
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return s.measureNet(ctx, arm, net, MeasureSteps, MeasureTime)
}

// measureNet times at most the given number of steps, for about as long as the limit.
func (s *Session) measureNet(ctx context.Context, arm train.Arm, net *model.Net, steps int,
	limit time.Duration) (m Measured, err error) {
	c := &s.Config
	settings := c.Train
	settings.MaxSteps, settings.EvaluateEpochs, settings.EvaluateSteps, settings.Patience = steps, 0, 0, 0
	inner, enough := context.WithCancel(ctx)
	defer enough()
	watch := newStopwatch(time.Now, limit)
	trainer, err := train.New(train.Options{
		Config: settings, Stage: arm.Stage, Net: net, Data: s.Data.Train, Loader: c.Loader(),
		Observers: []train.Observer{{Step: func(e train.StepDone) {
			if watch.see(e) {
				enough()
			}
		}}},
		Group: s.ranks, Wire: c.Run.wire(),
	})
	if err != nil {
		return m, err
	}
	defer func() { err = cmp.Or(err, trainer.Close()) }()
	_, err = trainer.Run(inner)
	switch {
	case err != nil && !errors.Is(err, train.ErrInterrupted):
		return m, err
	case ctx.Err() == nil: // what has ended the steps is that this rank has seen enough, or another one has
		err = nil
	}
	if err := s.agree(Interrupted(err)); err != nil { // the rank whose context has ended
		return m, err
	}
	m.Step, m.Bags, m.Images = watch.best.Duration, watch.best.Bags, watch.best.Images
	if m, err = fromRank0(s, m); err != nil { // every rank has a clock of its own
		return m, err
	}
	m.Memory = trainer.DeviceBytes()
	if free, known := s.freeOnCPU(); known {
		m.Free = free + int64(m.Memory) // which is taken at this moment
	}
	s.countSteps(&m, arm, trainer.StepsPerEpoch())
	return m, nil
}

// countSteps says how many steps the stage of an arm has, and of how many bags.
func (s *Session) countSteps(m *Measured, arm train.Arm, perEpoch int) {
	stage := s.Config.Train
	if s.Config.Arm.Rival() {
		stage = recipe.BothStages(stage)
	}
	m.Batch = stage.Batch(arm.MIL) * stage.Accumulate
	m.Mean = float64(s.Data.Train.Len()) / float64(max(perEpoch, 1))
	m.Steps = stage.Epochs(arm.Stage) * perEpoch
	if limit := stage.MaxSteps; limit > 0 && (m.Steps == 0 || limit < m.Steps) {
		m.Steps = limit
	}
}

// freeOnCPU is the free memory, if the device is a CPU and it is known.
func (s *Session) freeOnCPU() (free int64, known bool) {
	if !strings.HasPrefix(s.Backend.Name(), "cpu") {
		return 0, false
	}
	return memory.Free()
}
