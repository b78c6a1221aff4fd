package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nmn/internal/setting"
	"nmn/loader"
)

// ByFrame returns the same data. With byFrame, nets learn frames of videos one by one: the training split has
// a bag for each frame, and videos of the other splits are scored by their frames. Pictures are not affected.
func (d *Splits) ByFrame(ctx context.Context, byFrame bool) (*Splits, error) {
	if !byFrame || !d.Train.Videos() {
		return d, nil
	}
	if d.Verified != nil {
		return nil, setting.Errorf("data.verified", "`data.verified` lists whole videos, and the arm learns their frames "+
			"one by one: give `data.video_level` video, or leave out `data.verified`")
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

// Distinct are the splits that there are, each set of pictures once.
func (d *Splits) Distinct() (sets []*loader.Set) {
	for _, part := range d.parts() {
		if *part.to != nil {
			sets = append(sets, *part.to)
		}
	}
	return sets
}

// Replace puts features in place of the pictures of all splits; the pictures stay for display. vectors is
// called once for each of Distinct, and returns a vector for each frame of a bag.
func (d *Splits) Replace(vectors func(*loader.Set) (loader.Vectors, error)) error {
	for _, split := range []struct{ set, clean *loader.Set }{{d.Train, d.clean}, {d.Validation, d.cleanValidation},
		{d.Test, nil}} {
		if split.set == nil {
			continue
		}
		v, err := vectors(split.set)
		if err != nil {
			return err
		}
		for _, set := range []*loader.Set{split.set, split.clean} {
			if set != nil && set.Vectors == nil { // the same bags, with other labels
				set.Pictures, set.Source, set.Vectors = set.Source, nil, v
			}
		}
	}
	return nil
}

// Standardise measures the features of the training split, where the configuration asks for it.
func (d *Splits) Standardise(ctx context.Context, c *Config) (constant int, err error) {
	if d.Train.Vectors == nil || !c.Features.Standardise {
		return 0, nil
	}
	standard, moments, err := loader.Measure(ctx, d.Train)
	if err != nil {
		return 0, err
	}
	same, noisy, clean := d.clean == d.Train, *d.Train, *d.clean
	noisy.Standard, clean.Standard = standard, standard
	if d.Train, d.clean = &noisy, &clean; same {
		d.clean = d.Train
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

// leaveOut takes training bags that cannot be used out of the data, before anything is computed from them: they have no
// score, and no part in noise, rates, folds or audits.
func (d *Splits) leaveOut(ctx context.Context) error {
	if d.options.Unusable == nil {
		return nil
	}
	bad, err := d.options.Unusable(ctx, d.Train)
	if err != nil || len(bad) == 0 {
		return err
	}
	out := make(map[int]bool, len(bad))
	for _, b := range bad {
		out[b.Bag] = true
	}
	var kept []int
	for bag := range d.Train.Len() {
		if !out[bag] {
			kept = append(kept, bag)
		}
	}
	if len(kept) == 0 {
		return loader.NoneUsable(d.Train, bad[0].Err)
	}
	d.originalIDs, d.LeftOut, d.leftOf = d.OriginalIDs(), bad, fmt.Sprintf("%d training %s", d.Train.Len(), d.Train.Noun())
	d.Train, err = loader.Subset(d.Train, d.Train.Name, kept)
	return err
}

// DescribeLeftOut names the training bags that were left out, the first of many; empty for none.
func (d *Splits) DescribeLeftOut() string {
	const named = 10
	if len(d.LeftOut) == 0 {
		return ""
	}
	var names []string
	for _, b := range d.LeftOut[:min(named, len(d.LeftOut))] {
		names = append(names, fmt.Sprintf("%s (%v)", b.ID, b.Err))
	}
	if n := len(d.LeftOut) - named; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	return fmt.Sprintf("%d of %s cannot be used and are left out: %s", len(d.LeftOut), d.leftOf, strings.Join(names, "; "))
}
