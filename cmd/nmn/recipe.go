package main

import (
	"context"
	"fmt"
	"math"

	dense "gorgonia.org/tensor"

	"nmn/labels/rates"
	"nmn/loader"
	"nmn/report"
	"nmn/train"
)

// recipe estimates noise rates from scores of nets that have not seen the bag, and tells how the arms of
// one group are then trained: one noise level, seed and setting of MIL. What it finds is the same for all
// of them, and is found when the first of them needs it.
type recipe struct {
	session *session
	data    *dataSets // of the group: those of the session change
	config  config    // of stage 1
	dir     string

	plain, noisy *round      // trained without and with the noise model; nil before
	scored       *loader.Set // the bags that plain is of: all that are learned, or with online scores some
	found        *rates.Result
	floor        rates.Floor // that they were raised to; zero for none
}

// recipe of a group with its folder; nil for the paper's plain form.
func (s *session) recipe(c config, dir string) *recipe {
	if !c.crossFit() {
		return nil
	}
	c.Arm = armStage1
	return &recipe{session: s, data: s.data, scored: s.data.train, config: c, dir: dir}
}

// stagePlan is what a stage is trained with, and what is known once it is.
type stagePlan struct {
	config  train.Config
	data    *dataSets    // that are learned
	targets *dense.Dense // soft, or unknown; nil for the labels
	before  int          // epochs of stage 1 that this training includes, where their number is fixed
	// threshold is the probability from which a label is predicted for the best expected F1, told from
	// the out-of-fold probabilities; nil where there are none.
	threshold     *float64
	thresholdFrom string // what they are called
	// online takes the scores of the first epoch; nil where nobody needs them.
	online func(context.Context, *train.Scores) error
	// audit tells how well the out-of-fold probabilities find the wrong labels; nil where there are none,
	// or no truth.
	audit *report.AuditFigures
	// judge evaluates the net after each epoch; nil where nobody asks for it.
	judge func(context.Context) (*judgement, error)
}

// plan finds what an arm is trained with.
func (r *recipe) plan(ctx context.Context, c *config) (stagePlan, error) {
	p := stagePlan{config: c.Train}
	find := r.withFolds
	if r.config.folds() == 0 {
		find = r.withoutFolds
	}
	err := find(ctx, c, &p)
	return p, err
}

// withFolds plans arms where rates come from nets of folds.
func (r *recipe) withFolds(ctx context.Context, c *config, p *stagePlan) error {
	if err := r.estimate(ctx); err != nil {
		return err
	}
	switch c.Arm {
	case armStage1:
		p.config.Stage1Epochs, p.config.Patience = r.plain.best, 0
		return r.outOfFold(p, r.plain.logits, false)
	case armRN:
		return r.throughNoise(ctx, c, p)
	case armRS:
		return r.fromBeliefs(ctx, c, p)
	}
	if c.Arm.fresh() {
		p.config.Stage1Epochs = r.plain.best
	}
	switch c.Arm {
	case armForward:
		p.config = r.held(p.config)
	case armPruned:
		if err := r.again(ctx); err != nil {
			return err
		}
		p.targets = r.pruned()
	}
	return nil
}

// withoutFolds plans arms where rates come from stage 1 itself, or from a file.
func (r *recipe) withoutFolds(ctx context.Context, c *config, p *stagePlan) error {
	switch {
	case c.Arm == armStage1 && c.Rates == ratesOnline:
		p.online = r.keepOnline
	case c.Arm == armForward && c.Rates == ratesOnline:
		if err := r.estimateOnline(ctx); err != nil {
			return err
		}
		p.config = r.held(p.config)
	case c.Arm == armRN && c.Rates == ratesOnline:
		if err := r.estimateOnline(ctx); err != nil {
			return err
		}
		p.config = r.held(p.config)
		if err := p.setThreshold(r.found.Calibrated(r.plain.logits), fromOnline); err != nil {
			return err
		}
	case c.Arm == armRN: // rates of a file are in the configuration
		hold(&p.config.Noise, p.config.Noise.Q01, p.config.Noise.Q10)
	}
	if c.Arm == armRN && c.Recipe.Epochs > 0 {
		p.limit(c.Recipe.Epochs)
	}
	return nil
}

// limit sets the epochs of stage 2, which then end it.
func (p *stagePlan) limit(epochs int) { p.config.Stage2Epochs, p.config.Patience = epochs, 0 }

// throughNoise plans R-N: the likelihood of the labels through the held noise model, for as many epochs
// as nets of folds say that are trained so.
func (r *recipe) throughNoise(ctx context.Context, c *config, p *stagePlan) error {
	p.config = r.held(p.config)
	scores := r.found.Calibrated(r.plain.logits)
	if c.Recipe.Epochs > 0 {
		p.limit(c.Recipe.Epochs)
	} else {
		if err := r.again(ctx); err != nil {
			return err
		}
		p.limit(max(1, r.noisy.best-r.plain.best))
		scores = r.noisy.logits
	}
	return r.outOfFold(p, scores, true)
}

// fromBeliefs plans R-S: what is believed of each label, given the score of the net that has not seen it,
// is the target of the classifier. The net cannot confirm its own memory.
func (r *recipe) fromBeliefs(ctx context.Context, c *config, p *stagePlan) error {
	if err := r.again(ctx); err != nil {
		return err
	}
	p.config = r.held(p.config)
	p.limit(softEpochs)
	if c.Recipe.Epochs > 0 {
		p.limit(c.Recipe.Epochs)
	}
	p.targets = r.beliefs()
	return r.outOfFold(p, r.noisy.logits, true)
}

// outOfFold sets what out-of-fold logits tell: the threshold, and how well the wrong labels are found,
// through the rates that are held where the logits are of p(y=1).
func (r *recipe) outOfFold(p *stagePlan, logits []float32, held bool) (err error) {
	if err = p.setThreshold(logits, fromOutOfFold); err != nil || r.data.train.Truth == nil {
		return err
	}
	var q01, q10 []float32
	if held {
		n := r.held(p.config).Noise
		q01, q10 = n.Q01, n.Q10
	}
	s, z, k := &labelScores{}, r.data.train.Labels.Uint8s(), r.data.train.Vocabulary.Len()
	for bag := range r.data.train.Len() {
		s.add(bag, z[bag*k:(bag+1)*k], logits[bag*k:(bag+1)*k], q01, q10)
	}
	p.audit, err = s.audit(r.data.train, fromOutOfFold)
	return err
}

// beliefs are rho = p(y=1|z,o) of every label, and with raised rates the mean of it and p(y=1|o), so that
// what is wrong in rho is not learned by heart. A label of a class whose noise is not known is believed.
func (r *recipe) beliefs() *dense.Dense {
	z, q := r.data.train.Labels.Uint8s(), r.found.TrainingRates()
	k := len(q.Q01)
	rho := make([]float32, len(z))
	for i := range rho {
		c := i % k
		rho[i] = float32(z[i])
		if !math.IsNaN(q.Q01[c]) {
			o := float64(r.noisy.logits[i])
			belief := rates.Posterior(o, z[i], q.Q01[c], q.Q10[c])
			if r.config.Recipe.Floor {
				belief = (belief + rates.Sigmoid(o)) / 2
			}
			rho[i] = float32(belief)
		}
	}
	return dense.New(dense.WithShape(len(z)/k, k), dense.WithBacking(rho))
}

// leastRate keeps the noise model away from certainty.
const leastRate = 1e-4

// held sets the noise model to the rates that were found, with U = 0, and holds it. A class whose rates
// are not to be believed has none: no noise is invented.
func (r *recipe) held(c train.Config) train.Config {
	q := r.found.TrainingRates()
	hold(&c.Noise, heldRates(q.Q01), heldRates(q.Q10))
	return c
}

func heldRates(q []float64) []float32 {
	out := make([]float32, len(q))
	for c, v := range q {
		if math.IsNaN(v) {
			v = 0
		}
		out[c] = float32(min(max(v, leastRate), 1-leastRate))
	}
	return out
}

// rounds is how often the nets of folds are trained for these arms.
func (c *config) rounds(arms []armName) int {
	if c.folds() == 0 {
		return 0
	}
	for _, a := range arms {
		if a == armRS || a == armPruned || a == armRN && c.Recipe.Epochs == 0 {
			return 2
		}
	}
	return 1
}

// extraEpochs is what the folds of a group cost, in epochs of stage 1 on all bags.
func (c *config) extraEpochs(arms []armName) int {
	return c.rounds(arms) * (c.folds() - 1) * c.Recipe.foldEpochs()
}

// cost tells how much longer the recipe makes training, for these arms; empty where it does nothing.
func (c *config) cost(arms []armName) string {
	switch {
	case c.crossFit() && c.Rates == ratesOnline:
		return "rates from scores of the first epoch of stage 1, each from before its bag was learned: no epoch more"
	case c.folds() == 0:
		return ""
	}
	return fmt.Sprintf("%d folds, trained %d × for %d epochs on the other folds: the time of %d epochs of stage 1 more",
		c.folds(), c.rounds(arms), c.Recipe.foldEpochs(), c.extraEpochs(arms))
}

// tellCost says it before anything starts.
func (c *config) tellCost(p *program, arms ...armName) {
	if line := c.cost(arms); line != "" && !p.quiet {
		fmt.Fprintln(p.status, "recipe  "+line)
	}
}
