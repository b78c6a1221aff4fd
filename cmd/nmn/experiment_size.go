package main

import (
	"cmp"
	"context"
	"fmt"
	"nmn/recipe"
	"nmn/run"
	"time"

	"github.com/spf13/cobra"
)

// chooseSize is the size that flag or file name. Where they do not, or name auto, it is that of an
// earlier call in the same folder, else full or quick, whichever fits the budget.
func (e *experiment) chooseSize(cmd *cobra.Command, p *program) (run.Size, error) {
	from := e.from(cmd, e.sources.size)
	file, err := from.Read()
	if err != nil {
		return "", err
	}
	if _, size, _ := from.Base(file); size != "" && size != run.Auto {
		return size, nil
	}
	if there, err := run.ReadConfig(e.runDir); err == nil {
		return there.Size, nil
	}
	if err := e.from(cmd, run.Full).Resolve(&e.config); err != nil {
		return "", err
	}
	if !e.config.Data.Embedded() || e.sources.print {
		return run.Quick, nil
	}
	if err := e.resolveArms(cmd); err != nil { // before their steps are timed
		return "", err
	}
	return e.fitting(cmd.Context(), p)
}

// fitting is full where a short timing of real steps says that all arms fit into the budget.
func (e *experiment) fitting(ctx context.Context, p *program) (run.Size, error) {
	s, err := run.Open(ctx, &e.config, run.Options{Log: p.log})
	if err != nil {
		return "", err
	}
	needed, err := e.estimate(ctx, s)
	if err = cmp.Or(err, s.Close()); err != nil {
		return "", err
	}
	size := run.Quick
	if needed <= e.budget {
		size = run.Full
	}
	if !p.quiet { // it decides what the table means, so that logs have it too
		fmt.Fprintf(p.status, "size    %s: full would take about %v; --budget allows %v\n", size, needed.Round(time.Second), e.budget)
	}
	p.log.Info("size chosen", "size", string(size), "full_estimate_s", needed.Seconds(), "budget_s", e.budget.Seconds())
	return size, nil
}

// estimate is how long all runs take at the configured size.
func (e *experiment) estimate(ctx context.Context, s *run.Session) (time.Duration, error) {
	total := 0.0
	for _, mil := range e.mils() {
		c := e.config
		c.Net.MIL = mil
		s, err := s.At(ctx, &c)
		if err != nil {
			return 0, err
		}
		for _, name := range e.needed() {
			c.Arm = name
			settings := c.Settings()
			arm, err := name.TrainArm(mil)
			if err != nil {
				return 0, err
			}
			one, err := s.Measure(ctx, &c, arm)
			if err != nil {
				return 0, err
			}
			if name == recipe.Stage1 && c.Train.Stage1Epochs > 0 {
				one.Steps += one.Steps / c.Train.Stage1Epochs * settings.ExtraEpochs(e.needed())
			}
			// Evaluations go forward only, a third of a step.
			perPicture := one.Step.Seconds() / float64(c.Train.Batch(mil)*c.Train.Accumulate)
			judged := c.Data.TrainSize + c.Data.ValidationSize + c.Data.TestSize
			if c.EachEpoch {
				judged *= max(c.Train.Epochs(arm.Stage), 1)
			}
			evaluated := c.Data.ValidationSize*c.Train.Epochs(arm.Stage) + judged
			if c.ByFrame() {
				evaluated *= max(1, c.Data.Frames)
			}
			total += one.Step.Seconds()*float64(one.Steps) + perPicture/3*float64(evaluated)
		}
	}
	const reserve = 1.15 // steps in a row are slower than a few fast ones
	combinations := max(1, len(e.rates), len(e.flips)) * len(e.seeds)
	return time.Duration(reserve * total * float64(combinations) * float64(time.Second)), nil
}
