package main

import (
	"cmp"
	"context"
	"log/slog"
	"nmn/internal/setting"
)

// openData opens the data of a configuration. What only the data tell, that a manifest lists clips, is noted in
// the configuration and held against the rest of it.
func (c *config) openData(ctx context.Context, log *slog.Logger) (*dataSets, error) {
	data, err := openData(ctx, &c.Data, dataOptions{log: log, labelMemory: c.Run.LabelMemory})
	if err != nil {
		return nil, err
	}
	if c.Data.Set != dataManifest {
		return data, nil
	}
	c.Data.ManifestOfClips = data.train.Videos()
	if err := c.validateVideo(); err != nil {
		return nil, cmp.Or(error(&setting.Error{Err: err}), data.Close())
	}
	return data, nil
}
