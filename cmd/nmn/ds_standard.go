package main

import (
	"context"
	"nmn/loader"
)

// standardise measures the features of the training split, where the configuration asks for it.
func (d *dataSets) standardise(ctx context.Context, c *dataConfig) (constant int, err error) {
	if c.Set != dataFeatures || !c.Features.Standardise {
		return 0, nil
	}
	standard, moments, err := loader.Measure(ctx, d.train)
	if err != nil {
		return 0, err
	}
	noisy, clean := *d.train, *d.clean
	noisy.Standard, clean.Standard = standard, standard
	if d.clean == d.train {
		d.train, d.clean = &noisy, &noisy
	} else {
		d.train, d.clean = &noisy, &clean
	}
	d.options.log.Info("features standardised", "rows", moments.Rows, "features", len(moments.Mean), "constant", moments.Constant)
	return moments.Constant, nil
}

// width is that of the features, 0 for pictures.
func (d *dataSets) width() int {
	if d.train.Vectors == nil {
		return 0
	}
	return d.train.Vectors.Width()
}
