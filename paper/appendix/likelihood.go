package appendix

import (
	"cmp"
	"context"
	"fmt"

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
