package run

import (
	"cmp"
	"context"

	"nmn/internal/setting"
	"nmn/loader/dataset"
)

// OpenData opens the data of a configuration. Whether a manifest lists clips is known only then: it is noted in the
// configuration and checked against the rest of it.
func (c *Config) OpenData(ctx context.Context, o dataset.Options) (*dataset.Splits, error) {
	o.LabelMemory = c.Run.LabelMemory
	data, err := dataset.Open(ctx, &c.Data, o)
	if err != nil {
		return nil, err
	}
	if c.Data.Set != dataset.Manifest {
		return data, nil
	}
	c.Data.ManifestOfClips = data.Train.Videos()
	if err := c.validateVideo(); err != nil {
		return nil, cmp.Or(error(&setting.Error{Reason: err}), data.Close())
	}
	if err := c.CheckInstances(c.Data.ManifestOfClips); err != nil {
		return nil, cmp.Or(err, data.Close())
	}
	return data, nil
}
