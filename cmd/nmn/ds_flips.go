package main

import (
	"fmt"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/loader"
	"nmn/loader/noise"
	"path/filepath"
	"strconv"
	"strings"
)

// flipLevel is label noise by flips: two shares such as 0.3:0.1, the probability that a label that holds
// goes missing, and that one that does not hold is set. Empty flips nothing.
type flipLevel string

// rates are both probabilities.
func (f flipLevel) rates() (missing, incorrect float64, err error) {
	if f == "" {
		return 0, 0, nil
	}
	left, right, two := strings.Cut(string(f), ":")
	for _, part := range []struct {
		text string
		to   *float64
	}{{left, &missing}, {right, &incorrect}} {
		v, bad := strconv.ParseFloat(strings.TrimSpace(part.text), 64)
		if bad != nil || !two || !(v >= 0 && v <= 1) {
			return 0, 0, fmt.Errorf("flips are %q, want two probabilities missing:incorrect, such as 0.3:0.1", f)
		}
		*part.to = v
	}
	return missing, incorrect, nil
}

// Set and the others make it a flag.
func (f *flipLevel) Set(s string) error {
	if _, _, err := flipLevel(s).rates(); err != nil {
		return err
	}
	*f = flipLevel(s)
	return nil
}

func (f *flipLevel) String() string { return string(*f) }

func (f *flipLevel) Type() string { return "missing:incorrect" }

// flipRates are the rates of each class at the level of a configuration.
func (c *dataConfig) flipRates(set *loader.Set) (labels.Rates, error) {
	if c.FlipRates != "" {
		return noise.ReadFlipRates(c.FlipRates, set.Vocabulary)
	}
	missing, incorrect, err := c.Flips.rates()
	if err != nil {
		return labels.Rates{}, err
	}
	return noise.RandomRates(set.Vocabulary.Len(), missing, incorrect, c.FlipSpread, noiseSeed(c)), nil
}

// injectFlips flips labels of training and validation. What the files say is then the truth that figures
// are measured against.
func (d *dataSets) injectFlips(c *dataConfig) error {
	rates, err := c.flipRates(d.train)
	if err != nil {
		return err
	}
	d.declareTruth()
	d.flips = meanRates(rates)
	if c.FlipRates == "" { // the level that was asked for, whatever was drawn around it
		if d.flips.Q01, d.flips.Q10, err = c.Flips.rates(); err != nil {
			return err
		}
	}
	if d.train, d.drawn.train, err = flipped(d.train, rates, noiseSeed(c)); err != nil {
		return err
	}
	if d.validation != nil {
		// Validation chooses the epoch to stop at, and must not know more than training does.
		d.validation, d.drawn.validation, err = flipped(d.validation, rates, rng.Derive(noiseSeed(c), "validation"))
	}
	return err
}

// flipped draws flips, which are listed where the labels are in memory.
func flipped(set *loader.Set, rates labels.Rates, seed uint64) (*loader.Set, *noise.Injection, error) {
	if set.Rows != nil {
		noisy, err := noise.WithFlippedLabels(set, rates, seed)
		return noisy, nil, err
	}
	noise, err := noise.FlipLabels(set, rates, seed)
	if err != nil {
		return nil, nil, err
	}
	noisy, err := noise.Apply(set)
	return noisy, noise, err
}

// declareTruth takes the labels of all splits for true ones, where nothing else tells.
func (d *dataSets) declareTruth() {
	for _, set := range []**loader.Set{&d.train, &d.clean, &d.validation, &d.test} {
		if *set != nil {
			*set = (*set).LabelsAsTruth()
		}
	}
}

// writeFlips writes the flips of labels to a run folder, so that they can be shared.
func (d *dataSets) writeFlips(dir string) error {
	for _, file := range []struct {
		name  string
		noise *noise.Injection
	}{{flipsName, d.drawn.train}, {validationFlipsName, d.drawn.validation}} {
		if file.noise == nil {
			continue
		}
		if err := file.noise.WriteFile(filepath.Join(dir, file.name)); err != nil {
			return err
		}
	}
	return nil
}

// withTrueLabels are the same data with the truth for labels in training and, where it is known, in validation.
func (d *dataSets) withTrueLabels() *dataSets {
	clean := *d
	for _, set := range []**loader.Set{&clean.train, &clean.validation} {
		if *set != nil && (*set).KnowsTruth() {
			*set = (*set).TruthAsLabels()
		}
	}
	return &clean
}

// The files of label flips in a run folder, as nmn noise writes them: of the training and of the validation split.
const (
	flipsName           = "flips.jsonl.gz"
	validationFlipsName = "flips-validation.jsonl.gz"
)
