package run

import (
	"context"
	"path/filepath"

	"nmn/eval"
	"nmn/recipe"
	"nmn/train"
)

// EvaluateOptions say what a model is evaluated on, and how.
type EvaluateOptions struct {
	eval.Options
	Split string // train, validation or test
	// Afresh finds the threshold of the best expected F1 on the scores themselves also where the run has kept its own.
	Afresh bool
}

// DefaultEvaluateOptions evaluate the test split.
func DefaultEvaluateOptions() EvaluateOptions {
	return EvaluateOptions{Options: eval.Options{Threshold: .5, TopK: 3}, Split: "test"}
}

// Evaluate evaluates the model on a split of the data of its session or run.
func (m *Model) Evaluate(ctx context.Context, o EvaluateOptions) (*eval.Result, error) {
	if err := o.Validate(); err != nil {
		return nil, &ConfigError{Reason: err}
	}
	set, s, c, err := m.split(ctx, o.Split)
	if err != nil {
		return nil, err
	}
	run, err := ReadOutcome(m.folder)
	if err != nil {
		run = nil
	}
	if run != nil && filepath.Base(m.file) == train.LastName && !o.Afresh {
		o.PlugIn = run.Evaluation.PlugIn // of the whole run, from probabilities that are not judged
	}
	l := c.Loader()
	l.BatchSize = m.checkpoint.Config.Batch(m.checkpoint.Model.MIL)
	result, _, err := recipe.EvaluateNet(ctx, nil, s.Log, m.net, c.Scored(set), s.Data.Train, l,
		run.Unestimated(), o.Options)
	return result, err
}
