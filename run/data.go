package run

import (
	"cmp"
	"context"
	"log/slog"

	"nmn/internal/setting"
	"nmn/loader/dataset"
)

// OpenData opens the data of a configuration. What only the data tell, that a manifest lists clips, is noted in
// the configuration and held against the rest of it.
func (c *Config) OpenData(ctx context.Context, log *slog.Logger) (*dataset.Splits, error) {
	data, err := dataset.Open(ctx, &c.Data, dataset.Options{Log: log, LabelMemory: c.Run.LabelMemory})
	if err != nil {
		return nil, err
	}
	if c.Data.Set != dataset.Manifest {
		return data, nil
	}
	c.Data.ManifestOfClips = data.Train.Videos()
	if err := c.validateVideo(); err != nil {
		return nil, cmp.Or(error(&setting.Error{Err: err}), data.Close())
	}
	return data, nil
}
