package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// dryRun builds everything, makes a few steps without saving anything, and prints the plan. What is
// known before the steps is printed before them: those of a large network take a while.
func dryRun(ctx context.Context, p *program, s *run.Session) error {
	c := &s.Config
	arms, err := c.PlannedArms()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.out, "device      %s\n%s\n", s.Backend.Name(), s.Data.Describe()); err != nil {
		return err
	}
	if s, err = s.With(ctx, *c); err != nil {
		return err
	}
	total := time.Duration(0)
	for _, a := range arms {
		duration, err := planArm(ctx, p, s, a)
		if err != nil {
			return err
		}
		total += duration
	}
	settings := c.Settings()
	if line := settings.Cost([]recipe.Name{c.Arm}); line != "" {
		if settings.Folds() > 0 {
			line += ", not counted below"
		}
		if _, err := fmt.Fprintf(p.out, "recipe      %s\n", line); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.out, "in all      about %v, without validation; nothing was written\n", total.Round(time.Second))
	return err
}

// planArm prints the plan of one arm, and returns how long its training will take.
func planArm(ctx context.Context, p *program, s *run.Session, arm train.Arm) (duration time.Duration, err error) {
	c := &s.Config
	net, err := s.FreshNet(arm)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	census, err := s.Data.Train.Census(ctx)
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
	m, err := s.MeasureNet(ctx, arm, net)
	if err != nil {
		return 0, err
	}
	duration = m.Step * time.Duration(m.Steps)
	_, err = fmt.Fprintf(p.out, "            %.0f MiB, %d steps of %.1f ms (%.3g images/s, %.1f GFLOP/s): about %v\n",
		float64(m.Memory)/(1<<20), m.Steps, m.Step.Seconds()*1e3, float64(batch)/m.Step.Seconds(), flop/m.Step.Seconds()/1e9, duration.Round(time.Second))
	return duration, err
}
