package main

import (
	"fmt"
	"math"

	"nmn/loader"
	"nmn/report"
)

// injectNoise makes the training labels noisy, as the configuration says.
func (d *dataSets) injectNoise(p *program, c *dataConfig) error {
	var noise *loader.Noise
	var err error
	switch {
	case c.Flips != "" || c.FlipRates != "":
		if err := d.injectFlips(c); err != nil {
			return err
		}
		return d.logNoise(p)
	case c.NoiseFile != "":
		if !c.captioned() {
			d.declareTruth()
		}
		noise, err = loader.ReadNoise(c.NoiseFile, d.train)
	case c.Noise > 0:
		var n int
		if n, err = loader.CaptionsForRate(d.train, c.Noise); err == nil {
			noise, err = loader.ReplaceCaptions(d.train, n, noiseSeed(c))
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if noise.Kind == loader.CaptionNoise {
		d.noise = share(noise.Replaced, noise.CaptionsPerBag)
	}
	if d.train, err = noise.Apply(d.train); err != nil {
		return err
	}
	return d.logNoise(p)
}

// meanRates are the means over classes.
func meanRates(r loader.FlipRates) report.Flips {
	mean := func(rates []float64) float64 {
		sum := 0.0
		for _, v := range rates {
			sum += v
		}
		return sum / float64(max(len(rates), 1))
	}
	return report.Flips{Missing: mean(r.Missing), Incorrect: mean(r.Incorrect)}
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

func noiseSeed(c *dataConfig) uint64 {
	if c.NoiseSeed != 0 {
		return c.NoiseSeed
	}
	return c.Seed
}

func (d *dataSets) logNoise(p *program) error {
	s, err := loader.Statistics(d.clean, d.train)
	if err != nil {
		return err
	}
	p.log.Info("label noise", "missing", rounded(s.Mean.Q01), "incorrect", rounded(s.Mean.Q10), "against", s.Reference)
	return nil
}

func rounded(r loader.Rate) string { return fmt.Sprintf("%.3f", float64(r)) }

// startRates puts the rates of a file into the configuration of training.
func (d *dataSets) startRates(c *config) error {
	path := c.ratesFile()
	if path == "" {
		return nil
	}
	file, err := report.ReadNoiseRatesFile(path, d.train.Vocabulary)
	if err != nil {
		return err
	}
	rates := file.Rates()
	c.Train.Noise.MissRate, c.Train.Noise.FalseRate = float32s(rates.Q01), float32s(rates.Q10)
	return nil
}

func float32s(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

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
	labels, k := d.train.Labels.Uint8s(), d.train.Vocabulary.Len()
	positive := 0
	for _, z := range labels {
		positive += int(z)
	}
	size := func(s *loader.Set) int {
		if s == nil {
			return 0
		}
		return s.Len()
	}
	line := fmt.Sprintf("data    %s: %d training, %d validation, %d test %s,\n        %d classes, %.2f labels each",
		d.train.Name, d.train.Len(), size(d.validation), size(d.test), nounOf(d.train), k, float64(positive)/float64(d.train.Len()))
	// Against themselves labels have no noise, which would say nothing about them.
	if s, err := loader.Statistics(d.clean, d.train); err == nil && !math.IsNaN(float64(s.Mean.Q01)) && (d.clean != d.train || d.train.Truth != nil) {
		line += fmt.Sprintf("\nlabels  %.1f %% of those that hold are missing,\n        %.1f %% of the others are incorrect (mean over words, against the %s)",
			100*float64(s.Mean.Q01), 100*float64(s.Mean.Q10), map[string]string{"truth": "truth", "labels": "labels without injected noise"}[s.Reference])
	}
	if d.columns != "" {
		line += "\n        " + d.columns
	}
	return line
}
