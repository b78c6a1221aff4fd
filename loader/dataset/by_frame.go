package dataset

import (
	"context"

	"nmn/loader"
)

// ByFrame returns the same data. With byFrame, nets learn frames of videos one by one: the training split has
// a bag for each frame, and videos of the other splits are scored by their frames. Pictures are not affected.
func (d *Splits) ByFrame(ctx context.Context, byFrame bool) (*Splits, error) {
	if !byFrame || !d.Train.Videos() {
		return d, nil
	}
	level := *d
	train, index, err := loader.Frames(ctx, d.Train)
	if err != nil {
		return nil, err
	}
	level.Train, level.Evidence = train, ofFrames(d.Evidence, index)
	level.Validation, level.Test = ScoredByFrame(d.Validation), ScoredByFrame(d.Test)
	return &level, nil
}

// ScoredByFrame is a set whose videos are scored by their frames, one by one; nil for nil.
func ScoredByFrame(set *loader.Set) *loader.Set {
	if set == nil || !set.Videos() {
		return set
	}
	byFrame := *set
	byFrame.ByFrame = true
	return &byFrame
}
