package appendix

import (
	"cmp"
	"context"
	"fmt"

	"nmn/experiment"
	"nmn/paper/claims"
	"nmn/recipe"
	"nmn/run"
)

// Likelihood is the mean negative log-likelihood -log p(z|I) of the noisy labels of the training set, in nats a bag and
// summed over classes, by the last net of a run folder. The net must have a noise model.
func Likelihood(ctx context.Context, folder string, o run.ModelOptions) (nll float64, err error) {
	o.Checkpoint = run.Last
	m, err := run.OpenModel(ctx, folder, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	e := run.DefaultEvaluateOptions()
	e.Split = "train"
	found, err := m.Evaluate(ctx, e)
	if err != nil {
		return 0, err
	}
	if found.Observed == nil || found.Observed.Labels == nil {
		return 0, fmt.Errorf("appendix: %s: its net has no noise model, and so no p(z|I) of its own", folder)
	}
	return float64(found.Observed.Labels.LogLoss), nil
}

// likelihoods are the results of the runs of a grid that EM and joint training are compared by, NMN-FI and EM, which
// must be complete.
func likelihoods(ctx context.Context, g *experiment.Grid, data string, o run.ModelOptions) ([]claims.Result, error) {
	tasks, err := g.Tasks()
	if err != nil {
		return nil, err
	}
	var all []claims.Result
	for _, t := range tasks {
		if t.Arm != recipe.FI && t.Arm != recipe.EM {
			continue
		}
		c, err := run.ReadConfig(t.Dir)
		if err != nil {
			return nil, err
		}
		nll, err := Likelihood(ctx, t.Dir, o)
		if err != nil {
			return nil, err
		}
		arm := string(t.Arm)
		if t.MIL {
			arm += claims.MIL
		}
		all = append(all, claims.Result{Part: "em", Data: data, Arm: arm, Missing: c.Data.Noise, Seed: t.Seed,
			Words: claims.All, Metric: claims.NLL, Value: nll})
	}
	return all, nil
}
