package main

import (
	"context"
	"fmt"
	"math"

	"nmn/internal/setting"
	"nmn/labels"
	"nmn/loader"
	"nmn/loader/noise"
)

// injectNoise makes the training labels noisy, as the configuration says.
func (d *dataSets) injectNoise(ctx context.Context, c *dataConfig) error {
	var drawn *noise.Injection
	var err error
	switch {
	case c.Flips != "" || c.FlipRates != "":
		return d.injectFlips(c)
	case c.NoiseFile != "" && d.train.Rows != nil:
		return setting.Errorf("data.noise_file", "data.noise_file is %s: it lists what is drawn for every clip, and so many labels are not held in memory: raise --label-memory, or give a rate", c.NoiseFile)
	case c.NoiseFile != "":
		if !c.captioned() {
			d.declareTruth()
		}
		drawn, err = noise.Read(c.NoiseFile, d.train)
	case c.Noise > 0:
		var n int
		if n, err = noise.CaptionsForRate(d.train, c.Noise); err != nil {
			return err
		}
		if d.train.Rows != nil {
			d.noise = share(n, d.train.CaptionsPerBag)
			d.train, err = noise.WithReplacedCaptions(ctx, d.train, n, noiseSeed(c))
			return err
		}
		drawn, err = noise.ReplaceCaptions(d.train, n, noiseSeed(c))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if drawn.Kind == noise.Captions {
		d.noise = share(drawn.Replaced, drawn.CaptionsPerBag)
	}
	d.train, err = drawn.Apply(d.train)
	return err
}

// meanRates are the means over classes.
func meanRates(r labels.Rates) labels.FlipRates {
	mean := func(rates []float64) float64 {
		sum := 0.0
		for _, v := range rates {
			sum += v
		}
		return sum / float64(max(len(rates), 1))
	}
	return labels.FlipRates{Q01: mean(r.Q01), Q10: mean(r.Q10)}
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

func noiseSeed(c *dataConfig) uint64 {
	if c.NoiseSeed != 0 {
		return c.NoiseSeed
	}
	return c.Seed
}

// survey goes over the training labels once, and where noise was injected into labels whose truth is not known
// once more for how far they are from what they were.
func (d *dataSets) survey(ctx context.Context, c *dataConfig) (err error) {
	if d.census, err = d.train.Census(ctx); err != nil {
		return err
	}
	switch {
	case c.Set == dataClips && d.census.Labels() == 0: // of other data this was seen when they were read
		return unlabelled(d.train, c)
	case d.census.Confusion != nil:
		d.noisy = noise.OfCensus(d.census, d.train)
	case d.clean == d.train:
		return nil
	default:
		if d.noisy, err = noise.Measure(ctx, d.clean, d.train); err != nil {
			return err
		}
	}
	if d.clean != d.train {
		d.options.log.Info("label noise", "missing", rounded(d.noisy.Mean.Q01), "incorrect", rounded(d.noisy.Mean.Q10), "against", d.noisy.Reference)
	}
	return nil
}

func rounded(r noise.Rate) string { return fmt.Sprintf("%.3f", float64(r)) }

// nounOf is what people call the bags of a set.
func nounOf(s *loader.Set) string {
	switch {
	case s.Vectors != nil:
		return "rows"
	case s.Videos():
		return "clips"
	}
	return "pictures"
}

// describe says in a few lines what the data is.
func (d *dataSets) describe() string {
	size := func(s *loader.Set) int {
		if s == nil {
			return 0
		}
		return s.Len()
	}
	line := fmt.Sprintf("data    %s: %d training, %d validation, %d test %s,\n        %d classes, %.2f labels each",
		d.train.Name, d.train.Len(), size(d.validation), size(d.test), nounOf(d.train), len(d.census.Positive), float64(d.census.Labels())/float64(d.census.Bags))
	if s := d.noisy; s != nil && !math.IsNaN(float64(s.Mean.Q01)) {
		line += fmt.Sprintf("\nlabels  %.1f %% of those that hold are missing,\n        %.1f %% of the others are incorrect (mean over words, against the %s)",
			100*float64(s.Mean.Q01), 100*float64(s.Mean.Q10), map[string]string{"truth": "truth", "labels": "labels without injected noise"}[s.Reference])
	}
	if d.columns != "" {
		line += "\n        " + d.columns
	}
	return line
}
