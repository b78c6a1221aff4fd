package experiment

import (
	"context"
	"time"

	"nmn/recipe"
	"nmn/run"
)

// Estimate is how long all runs take at the configured size.
func (g *Grid) Estimate(ctx context.Context, s *run.Session) (time.Duration, error) {
	total := 0.0
	for _, mil := range g.mils() {
		c := g.Config
		c.Net.MIL = mil
		s, err := s.With(ctx, c)
		if err != nil {
			return 0, err
		}
		for _, name := range g.needed() {
			c.Arm, s.Config.Arm = name, name
			arm, err := name.ForTraining(mil)
			if err != nil {
				return 0, err
			}
			one, err := run.NewEstimator(s).Measure(ctx, arm)
			if err != nil {
				return 0, err
			}
			if name == recipe.Stage1 && c.Train.Stage1Epochs > 0 {
				one.Steps += one.Steps / c.Train.Stage1Epochs * c.Settings().ExtraEpochs(g.needed(), s.Data.Train.CaptionsInUse)
			}
			// Evaluations go forward only, a third of a step.
			perPicture := one.Step.Seconds() / float64(one.Bags)
			judged := c.Data.TrainSize + c.Data.ValidationSize + c.Data.TestSize
			if c.EachEpoch {
				judged *= max(c.Train.Epochs(arm.Stage), 1)
			}
			evaluated := c.Data.ValidationSize*c.Train.Epochs(arm.Stage) + judged
			if c.ByFrame() {
				evaluated *= max(1, c.Data.Frames)
			}
			total += one.Total().Seconds() + perPicture/3*float64(evaluated)
		}
	}
	const reserve = 1.15 // steps in a row are slower than a few fast ones
	combinations := max(1, len(g.ReplaceCaptions), len(g.Flips)) * len(g.Seeds)
	return time.Duration(reserve * total * float64(combinations) * float64(time.Second)), nil
}
