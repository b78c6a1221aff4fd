package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// chooseSize is the size that flag or file name. Where they do not, or name auto, it is that of an
// earlier call in the same folder, else full or quick, whichever fits the budget.
func (e *experiment) chooseSize(cmd *cobra.Command, p *program) (sizeName, error) {
	from := e.from(cmd, e.sources.size)
	file, err := from.read()
	if err != nil {
		return "", err
	}
	if _, size, _ := from.base(file); size != "" && size != sizeAuto {
		return size, nil
	}
	if there, err := readFolderConfig(e.runDir); err == nil {
		return there.Size, nil
	}
	if err := e.from(cmd, sizeFull).resolve(&e.config); err != nil {
		return "", err
	}
	if !e.config.Data.scenes() || e.sources.print {
		return sizeQuick, nil
	}
	if err := e.resolveArms(cmd); err != nil { // before their steps are timed
		return "", err
	}
	return e.fitting(cmd.Context(), p)
}

// fitting is full where a short timing of real steps says that all arms fit into the budget.
func (e *experiment) fitting(ctx context.Context, p *program) (sizeName, error) {
	s, err := openSession(ctx, &e.config, sessionOptions{log: p.log})
	if err != nil {
		return "", err
	}
	needed, err := e.estimate(ctx, s)
	if err = cmp.Or(err, s.Close()); err != nil {
		return "", err
	}
	size := sizeQuick
	if needed <= e.budget {
		size = sizeFull
	}
	if !p.quiet { // it decides what the table means, so that logs have it too
		fmt.Fprintf(p.status, "size    %s: full would take about %v; --budget allows %v\n", size, needed.Round(time.Second), e.budget)
	}
	p.log.Info("size chosen", "size", string(size), "full_estimate_s", needed.Seconds(), "budget_s", e.budget.Seconds())
	return size, nil
}

// estimate is how long all runs take at the configured size.
func (e *experiment) estimate(ctx context.Context, s *session) (time.Duration, error) {
	total := 0.0
	for _, mil := range e.mils() {
		c := e.config
		c.Net.MIL = mil
		s, err := s.at(ctx, &c)
		if err != nil {
			return 0, err
		}
		for _, name := range e.needed() {
			c.Arm = name
			settings := c.settings()
			arm, err := name.trained(mil)
			if err != nil {
				return 0, err
			}
			one, err := s.measure(ctx, &c, arm)
			if err != nil {
				return 0, err
			}
			if name == armStage1 && c.Train.Stage1Epochs > 0 {
				one.steps += one.steps / c.Train.Stage1Epochs * settings.extraEpochs(e.needed())
			}
			// Evaluations go forward only, a third of a step.
			perPicture := one.step.Seconds() / float64(c.Train.Batch(mil)*c.Train.Accumulate)
			judged := c.Data.TrainSize + c.Data.ValidationSize + c.Data.TestSize
			if c.EachEpoch {
				judged *= max(c.Train.Epochs(arm.Stage), 1)
			}
			evaluated := c.Data.ValidationSize*c.Train.Epochs(arm.Stage) + judged
			if c.byFrame() {
				evaluated *= max(1, c.Data.Frames)
			}
			total += one.step.Seconds()*float64(one.steps) + perPicture/3*float64(evaluated)
		}
	}
	const reserve = 1.15 // steps in a row are slower than a few fast ones
	combinations := max(1, len(e.rates), len(e.flips)) * len(e.seeds)
	return time.Duration(reserve * total * float64(combinations) * float64(time.Second)), nil
}
