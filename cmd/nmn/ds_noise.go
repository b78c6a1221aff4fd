package main

import (
	"context"
	"errors"
	"nmn/internal/setting"
	"nmn/loader"
)

// withNoise returns the same data with the label noise of a configuration.
func (d *dataSets) withNoise(ctx context.Context, c *dataConfig) (*dataSets, error) {
	noisy := *d
	noisy.train, noisy.validation, noisy.noise = d.clean, d.cleanValidation, 0
	if err := noisy.injectNoise(ctx, c); err != nil {
		if errors.Is(err, loader.ErrAnnotations) {
			return nil, err
		}
		return nil, &setting.Error{Field: "data.noise", Err: err}
	}
	return &noisy, noisy.survey(ctx, c)
}
