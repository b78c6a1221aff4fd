package recipe

import (
	"context"
	"fmt"
	"path/filepath"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
	"nmn/labels"
	"nmn/labels/rates"
	"nmn/labels/rates/em"
	"nmn/train"
)

// EMFolder is the folder, below that of a run, of the nets that the arm em trains before its last.
const EMFolder = "em"

// em plans the baseline of the paper's appendix, expectation-maximisation, from the classifier of stage 1 and
// the start of the noise model. Each epoch of stage 2 is a round. The E-step computes the posterior of every
// label from the scores of the net so far and the rates. The next epoch learns these posteriors (M-step of the
// classifier), and the rates follow from the expected counts (M-step of the rates). All rounds but the last
// are trained here. The last round is the run itself, so that the arm trains for as many epochs as its rivals.
func (p *planner) em(ctx context.Context) error {
	set := p.Data.Train
	z, k := set.Labels.Uint8s(), set.Vocabulary.Len()
	start := labels.Rates{Q01: perClass(p.Config.Noise.Q01, k), Q10: perClass(p.Config.Noise.Q10, k)}
	c := &emClassifier{planner: p, ctx: ctx, net: filepath.Dir(p.start)}
	last := p.Config.Stage2Epochs - 1
	p.Config.Seed = c.seed(last)
	logits := make([]float64, len(z))
	if last > 0 {
		o := em.DefaultOptions()
		o.Rounds, o.Tolerance = last, 0
		found, err := em.Run(ctx, c, z, set.Len(), k, start, o)
		if err != nil {
			return err
		}
		start = found.Rates
	}
	if err := c.Logits(logits); err != nil {
		return err
	}
	targets := make([]float32, len(z))
	for i := range targets {
		targets[i] = float32(rates.Posterior(logits[i], z[i], start.Q01[i%k], start.Q10[i%k]))
	}
	p.limit(1)
	p.Targets = dense.New(dense.WithShape(set.Len(), k), dense.WithBacking(targets))
	hold(&p.Config.Noise, heldRates(start.Q01), heldRates(start.Q10))
	if last > 0 {
		p.From = filepath.Join(c.net, train.LastName)
	}
	return nil
}

// perClass are rates for each class, where one stands for all.
func perClass(q []float32, classes int) []float64 {
	out := make([]float64, classes)
	for c := range out {
		out[c] = float64(q[min(c, len(q)-1)])
	}
	return out
}

// emClassifier is the net of EM: each round goes on from the checkpoint of the one before.
type emClassifier struct {
	planner *planner
	ctx     context.Context
	net     string // folder of the net so far
	rounds  int    // that have been trained
	logits  []float32
	scored  string // folder of the net that computed the logits; empty if there is none
}

// seed is that of a round: an order and dropout of its own, as epochs of one training have.
func (c *emClassifier) seed(round int) uint64 {
	return rng.Derive(c.planner.settings.Train.Seed, fmt.Sprintf("em/round%d", round+1))
}

// Logits scores all bags of the training set.
func (c *emClassifier) Logits(out []float64) error {
	if c.scored != c.net {
		var err error
		if c.logits, err = c.planner.trainer.Score(c.ctx, c.net, c.planner.Data.Train); err != nil {
			return err
		}
		c.scored = c.net
	}
	for i, v := range c.logits {
		out[i] = float64(v)
	}
	return nil
}

// Fit trains for one epoch on what is believed.
func (c *emClassifier) Fit(ctx context.Context, posteriors []float64) error {
	p := c.planner
	targets := make([]float32, len(posteriors))
	for i, v := range posteriors {
		targets[i] = float32(v)
	}
	k := p.Data.Train.Vocabulary.Len()
	t := Training{
		Title: fmt.Sprintf("EM, round %d of %d", c.rounds+1, p.settings.Train.Stage2Epochs),
		Dir:   filepath.Join(p.dir, EMFolder, fmt.Sprintf("round-%d", c.rounds+1)),
		From:  filepath.Join(c.net, train.LastName), Config: p.Config, Data: p.Data,
		Targets: dense.New(dense.WithShape(len(targets)/k, k), dense.WithBacking(targets)),
	}
	var err error
	if t.Arm, err = EM.ForTraining(p.settings.MIL); err != nil {
		return err
	}
	hold(&t.Config.Noise, p.Config.Noise.Q01, p.Config.Noise.Q10) // what is believed teaches the classifier alone
	t.Config.Seed, t.Config.Stage2Epochs, t.Config.Patience, t.Config.KeepBest = c.seed(c.rounds), 1, 0, 0
	if err := p.trainer.TrainNet(ctx, t); err != nil {
		return err
	}
	c.net, c.rounds = t.Dir, c.rounds+1
	return nil
}
