package run

import (
	"fmt"
	"time"

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

// count notes how many steps the stage of an arm has, and of how many of the bags, if an epoch has that many.
func (m *Measured) count(c *Config, arm train.Arm, bags, perEpoch int) {
	stage := c.Train
	if c.Arm.Rival() {
		stage = recipe.BothStages(stage)
	}
	m.Batch = stage.Batch(arm.MIL) * stage.Accumulate
	m.Mean = float64(bags) / float64(max(perEpoch, 1))
	m.Steps = train.Limits{Epochs: stage.Epochs(arm.Stage), Steps: stage.MaxSteps}.Total(perEpoch)
}
