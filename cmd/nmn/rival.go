package main

import (
	"context"
	"fmt"

	dense "gorgonia.org/tensor"

	"nmn/labels/rates"
	"nmn/loader"
	"nmn/train"
)

// plan finds what the arm is trained with: as its configuration says, and by the recipe where there is
// one.
func (r *armRun) plan(ctx context.Context) (p stagePlan, err error) {
	p = stagePlan{config: r.config.Train}
	if r.recipe != nil {
		if p, err = r.recipe.plan(ctx, &r.config); err != nil {
			return p, err
		}
	}
	p.data = r.data
	if !r.config.Arm.fresh() {
		if r.config.Arm == armStage1 && p.config.Patience == 0 {
			p.before = p.config.Stage1Epochs
		}
		return p, nil
	}
	p.config = bothStages(p.config)
	if p.config.Patience == 0 {
		p.before = p.config.Stage1Epochs - p.config.Stage2Epochs
	}
	return p, r.rival(&p)
}

// bothStages is the training of a fresh net for as long as both stages.
func bothStages(c train.Config) train.Config {
	c.Stage1Epochs += c.Stage2Epochs
	c.MaxSteps *= 2 // a limit of each stage
	return c
}

// rival completes the plan of a rival arm.
func (r *armRun) rival(p *stagePlan) error {
	switch r.config.Arm {
	case armStarEarly:
		return r.endInTime(p)
	case armForward:
		hold(&p.config.Noise, p.config.Noise.Q01, p.config.Noise.Q10)
	case armForwardTrue:
		q, err := train.TrueRates(r.data.train)
		if err == nil && q == nil {
			err = fmt.Errorf("the true labels of %s are not known", r.data.train.Name)
		}
		if err != nil {
			return err
		}
		hold(&p.config.Noise, heldRates(q.Q01), heldRates(q.Q10))
	case armASL, armLLR, armLLCt:
		if kind := string(r.config.Arm); p.config.Loss.Kind != kind {
			p.config.Loss = train.PaperLoss(kind)
		}
	case armClean:
		p.data = r.data.told()
	}
	return nil
}

// hold has a net learn through these rates, without a part that depends on the bag.
func hold(c *train.NoiseConfig, q01, q10 []float32) {
	c.Q01, c.Q10, c.Deviation, c.Frozen = q01, q10, 0, true
}

// endInTime goes back to the epoch with the least loss on the noisy labels of the validation set. Without
// one, nets of folds have told how many epochs that takes.
func (r *armRun) endInTime(p *stagePlan) error {
	c := &p.config
	switch {
	case r.data.validation != nil:
		if c.Patience == 0 {
			c.Patience = max(c.Stage1Epochs, c.MaxSteps) // to the limit, and back
		}
		c.EvaluateEpochs, c.EvaluateSteps, c.KeepBest, c.BestBy = 1, 0, max(c.KeepBest, 1), "loss"
	case r.config.folds() > 0:
		c.Stage1Epochs, c.Patience, p.before = r.recipe.plain.best, 0, r.recipe.plain.best
	default:
		return r.config.fits(r.data)
	}
	return nil
}

// told are the same data with the truth for labels in training and, where it is known, in validation.
func (d *dataSets) told() *dataSets {
	clean := *d
	for _, set := range []**loader.Set{&clean.train, &clean.validation} {
		if *set != nil && (*set).KnowsTruth() {
			*set = (*set).TruthAsLabels()
		}
	}
	return &clean
}

// fits refuses data that lack what an arm needs, before anything is trained.
func (c *config) fits(d *dataSets) error {
	why := c.inestimable(d)
	switch {
	case c.needsEstimate(c.Arm) && why != "":
		return usagef("arm %s needs rates that are estimated: %s", c.Arm, why)
	case (c.Arm == armForwardTrue || c.Arm == armClean) && !d.train.KnowsTruth():
		return usagef("arm %s needs the true labels of the training set, which %s does not tell: inject noise (--noise, --flips), give --truth, or leave the arm out", c.Arm, d.train.Name)
	case c.Arm == armStarEarly && d.validation == nil && c.folds() == 0:
		return usagef("arm star-early ends by labels that are held out: give a validation set, or --nmn-recipe crossfit --rates folds:5")
	}
	return nil
}

// pruned are the labels as targets, those unknown that the out-of-fold audit believes wrong: with a
// posterior beyond one half.
func (r *recipe) pruned() *dense.Dense {
	z, n := r.data.train.Labels.Uint8s(), r.held(r.config.Train).Noise
	k, out := len(n.Q01), make([]float32, len(z))
	for i := range out {
		c := i % k
		out[i] = float32(z[i])
		rho := rates.Posterior(float64(r.noisy.logits[i]), z[i], float64(n.Q01[c]), float64(n.Q10[c]))
		if z[i] == 1 && rho < .5 || z[i] == 0 && rho > .5 {
			out[i] = loader.Unknown
		}
	}
	return dense.New(dense.WithShape(len(z)/k, k), dense.WithBacking(out))
}
