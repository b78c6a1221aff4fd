package main

import (
	"context"
	"errors"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/model"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// scoreFeatures tells the labels of the rows of a feature file. Which of its columns are features is as in
// the run that the model is from, with the command's flags over it.
func (c *predictCommand) scoreFeatures(ctx context.Context, net *model.Net, v *text.Vocabulary, folder string, paths []string) (*train.Scores, *loader.Set, error) {
	if len(paths) != 1 {
		return nil, nil, usagef("predict: the model takes features: name one file of them, not %d", len(paths))
	}
	f := run.DefaultConfig().Data.Features
	if run, err := run.ReadConfig(folder); err == nil {
		f = run.Data.Features
	}
	if c.array != "" {
		f.Array = c.array
	}
	o := f.Options(f.HeldOut(dataset.FeatureFiles{Features: paths[0]}), nil) // a list of labels tells which columns are no features
	o.Unlabelled = true
	table, err := features.Open(o)
	if err != nil {
		return nil, nil, err
	}
	scores, set, err := c.scoreTable(ctx, net, v, table)
	return scores, set, errors.Join(err, table.Close())
}

func (c *predictCommand) scoreTable(ctx context.Context, net *model.Net, v *text.Vocabulary, table *features.Table) (*train.Scores, *loader.Set, error) {
	set, err := loader.FeatureSet("features", table, v)
	if err != nil {
		return nil, nil, err
	}
	l := loader.DefaultConfig()
	l.BatchBags, l.Workers, l.Prefetch, l.MaxBadSamples = c.batch, c.run.Workers, c.run.Prefetch, c.maxBad
	scores, err := train.Score(ctx, net, set, l)
	return scores, set, err
}
