package dataset

import (
	"context"
	"errors"

	"nmn/internal/setting"
	"nmn/loader"
)

// WithNoise returns the same data with the label noise of a configuration.
func (d *Splits) WithNoise(ctx context.Context, c *Config) (*Splits, error) {
	noisy := *d
	noisy.Train, noisy.Validation = d.clean, d.cleanValidation
	noisy.Noise, noisy.NoiseKind = 0, ""
	if err := noisy.injectNoise(ctx, c); err != nil {
		if errors.Is(err, loader.ErrAnnotations) {
			return nil, err
		}
		return nil, &setting.Error{Key: "data.noise", Reason: err}
	}
	return &noisy, noisy.survey(ctx, c)
}
