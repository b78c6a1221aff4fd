package dataset

import (
	"context"

	"nmn/loader"
)

// Standardise measures the features of the training split, where the configuration asks for it.
func (d *Splits) Standardise(ctx context.Context, c *Config) (constant int, err error) {
	if d.Train.Vectors == nil || !c.Features.Standardise {
		return 0, nil
	}
	standard, moments, err := loader.Measure(ctx, d.Train)
	if err != nil {
		return 0, err
	}
	noisy, clean := *d.Train, *d.clean
	noisy.Standard, clean.Standard = standard, standard
	if d.clean == d.Train {
		d.Train, d.clean = &noisy, &noisy
	} else {
		d.Train, d.clean = &noisy, &clean
	}
	d.options.Log.Info("features standardised", "rows", moments.Rows, "features", len(moments.Mean), "constant",
		moments.Constant)
	return moments.Constant, nil
}

// Width is the number of features of a row, 0 for pictures.
func (d *Splits) Width() int {
	if d.Train.Vectors == nil {
		return 0
	}
	return d.Train.Vectors.Width()
}
