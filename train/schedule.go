package train

import "math"

// Schedule gives the learning rate of each step of a stage.
type Schedule struct {
	config LearningRateConfig
	total  int // steps of the stage; only the cosine needs it
}

// NewSchedule makes the schedule of a stage of total steps.
func NewSchedule(c LearningRateConfig, total int) Schedule { return Schedule{config: c, total: total} }

// At is the learning rate of a step, counted from 1. It is above 0 at every step of the stage, except
// after a cosine to a floor of 0.
//
// In the warm-up of W steps, step s has s/W of the rate that the schedule alone would give.
func (s Schedule) At(step int) float64 {
	c := s.config
	rate := c.LearningRate
	done := float64(step - 1)
	switch c.Schedule {
	case StepDown:
		rate *= math.Pow(c.StepFactor, math.Floor(done/float64(c.StepEvery)))
	case Cosine:
		share := min(done/float64(max(s.total, 1)), 1)
		rate *= c.CosineFloor + (1-c.CosineFloor)*(1+math.Cos(math.Pi*share))/2
	}
	if step < c.WarmupSteps {
		rate *= float64(step) / float64(c.WarmupSteps)
	}
	return rate
}
