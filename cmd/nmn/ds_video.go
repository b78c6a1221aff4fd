package main

import (
	"context"
	"nmn/loader"
)

func (d *dataSets) at(ctx context.Context, byFrame bool) (*dataSets, error) {
	if !byFrame || !d.train.Videos() {
		return d, nil
	}
	level := *d
	var err error
	if level.train, _, err = loader.Frames(ctx, d.train); err != nil {
		return nil, err
	}
	level.validation, level.test = scoredByFrame(d.validation), scoredByFrame(d.test)
	return &level, nil
}

// scoredByFrame is a set whose videos are scored by their frames, one by one; nil for nil.
func scoredByFrame(set *loader.Set) *loader.Set {
	if set == nil || !set.Videos() {
		return set
	}
	byFrame := *set
	byFrame.ByFrame = true
	return &byFrame
}
