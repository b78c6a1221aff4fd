package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nmn/recipe"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// pace estimates the time of the remaining runs from the time of the finished ones: each kind, with MIL and
// without, by its own epochs. A timing taken before the first run cannot foresee what other programs will do.
type pace struct {
	kinds map[bool]*kindPace // by MIL
	runs  int                // to come
	told  bool               // set once an estimate has been reported
}

// kindPace is the pace of the runs with MIL, or of those without.
type kindPace struct {
	spent time.Duration // in runs that were trained
	done  float64       // epochs of these
	left  float64       // epochs of the runs to come
}

// epochs returns the number of epochs that a run of an arm trains, with the epochs of the recipe that only
// this arm needs.
func (g *Grid) epochs(name recipe.Name, mil bool) float64 {
	c := g.Config
	c.Arm = name
	arm, err := name.ForTraining(mil)
	if err != nil {
		return 0 // TrainArm says it
	}
	stage, settings := c.Train, c.Settings()
	if name.Rival() {
		stage = recipe.BothStages(stage)
	}
	epochs, needed := stage.Epochs(arm.Stage), g.needed()
	again := 0
	if settings.Estimates() && slices.Contains(needed, recipe.CaptionFilter) {
		again = c.Train.Stage1Epochs
	}
	switch name {
	case recipe.Stage1:
		epochs += max(settings.ExtraEpochs(needed, nil)-again, 0)
	case recipe.CaptionFilter:
		epochs += again
	}
	return float64(max(epochs, 1))
}

func (g *Grid) newPace(groups int) *pace {
	p := &pace{kinds: map[bool]*kindPace{}}
	for _, mil := range g.mils() {
		k := &kindPace{}
		for _, name := range g.needed() {
			k.left += float64(groups) * g.epochs(name, mil)
			p.runs += groups
		}
		p.kinds[mil] = k
	}
	return p
}

// ran counts a run of the given number of epochs: reused, or trained in the time took.
func (p *pace) ran(mil bool, epochs float64, reused bool, took time.Duration) {
	k := p.kinds[mil]
	k.left -= epochs
	p.runs--
	if !reused {
		k.done += epochs
		k.spent += took
	}
}

// left is the time of the runs to come, and whether all of their kinds have been seen: a kind that has not goes by the
// other one.
func (p *pace) left() (left time.Duration, seen bool) {
	var spent, done float64
	for _, k := range p.kinds {
		spent, done = spent+float64(k.spent), done+k.done
	}
	seen = done > 0
	for _, k := range p.kinds {
		perEpoch := spent / max(done, 1)
		if k.done > 0 {
			perEpoch = float64(k.spent) / k.done
		} else if k.left > 0 {
			seen = false
		}
		left += time.Duration(perEpoch * k.left)
	}
	return left, seen
}

// watch returns who watches the trainings of s. After the first whole epoch it reports how long all runs take. If a
// training goes on in the middle of an epoch, that one is not timed.
func (p *pace) watch(s *run.Session) func(run.Training) []train.Observer {
	observe := s.Observe
	return func(t run.Training) []train.Observer {
		var began time.Time
		epoch := 0
		return append(observe.Begin(t), train.Observer{Step: func(e train.StepDone) {
			if p.told || e.Epoch == epoch {
				return
			}
			now := time.Now().Add(-e.Duration)
			if !began.IsZero() {
				p.told = true
				left := time.Duration(p.epochs()-float64(epoch)) * now.Sub(began)
				observe.Notify(run.Message{Topic: "left", Text: fmt.Sprintf("about %v for %s, by the time of an epoch",
					left.Round(time.Second), text.Count(p.runs, "runs"))})
			}
			if epoch > 0 || e.Step == 1 {
				began = now
			}
			epoch = e.Epoch
		}})
	}
}

// epochs returns the epochs of the runs to come.
func (p *pace) epochs() (left float64) {
	for _, k := range p.kinds {
		left += k.left
	}
	return left
}

// announce reports how long the remaining runs take. After the last run it reports nothing.
func (p *pace) announce(s *run.Session) {
	p.told = true
	if p.runs < 1 {
		return
	}
	left, seen := p.left()
	more := "one more run"
	if p.runs > 1 {
		more = fmt.Sprintf("%d more runs", p.runs)
	}
	line := fmt.Sprintf("about %v for %s, by the time that those so far took", left.Round(time.Second), more)
	if !seen {
		line += "; runs with MIL may take longer than runs without"
	}
	s.Notify(run.Message{Topic: "left", Text: line})
}

// Estimate is how long all runs take at the configured size.
func (g *Grid) Estimate(ctx context.Context, s *run.Session) (time.Duration, error) {
	total := 0.0
	for _, mil := range g.mils() {
		c := g.Config
		c.SetMIL(mil)
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
