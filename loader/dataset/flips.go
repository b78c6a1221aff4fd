package dataset

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"nmn/internal/rng"
	"nmn/labels"
	"nmn/labels/inject"
	"nmn/loader"
)

// FlipLevel is label noise by flips: two shares such as 0.3:0.1, the probability that a label that holds
// goes missing, and that one that does not hold is set. Empty flips nothing.
type FlipLevel string

// Rates are both probabilities.
func (f FlipLevel) Rates() (missing, incorrect float64, err error) {
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

// Set, String and Type make a FlipLevel a flag. Set takes a text such as 0.3:0.1.
func (f *FlipLevel) Set(s string) error {
	if _, _, err := FlipLevel(s).Rates(); err != nil {
		return err
	}
	*f = FlipLevel(s)
	return nil
}

// String returns the text that Set takes, and Type the type's name for flags.
func (f *FlipLevel) String() string { return string(*f) }

// Type names the form.
func (f *FlipLevel) Type() string { return "missing:incorrect" }

// flipRates are the rates of each class at the level of a configuration.
func (c *Config) flipRates(set *loader.Set) (labels.Rates, error) {
	if c.FlipRates != "" {
		return inject.ReadFlipRates(c.FlipRates, set.Vocabulary)
	}
	missing, incorrect, err := c.Flips.Rates()
	if err != nil {
		return labels.Rates{}, err
	}
	return inject.RandomRates(set.Vocabulary.Len(), missing, incorrect, c.FlipSpread, noiseSeed(c)), nil
}

// injectFlips flips labels of training and validation. The labels of the files are then the truth for
// metrics.
func (d *Splits) injectFlips(c *Config) error {
	rates, err := c.flipRates(d.Train)
	if err != nil {
		return err
	}
	d.declareTruth()
	d.Flips = meanRates(rates)
	if c.FlipRates == "" { // the level that was asked for, whatever was drawn around it
		if d.Flips.Q01, d.Flips.Q10, err = c.Flips.Rates(); err != nil {
			return err
		}
	}
	return d.inject(c, func(set *loader.Set, seed uint64) (*loader.Set, *inject.Injection, error) {
		return flipped(set, rates, seed)
	})
}

// inject makes the labels of training and validation noisy. Validation chooses the epoch to stop at, so it must have no
// cleaner labels than training.
func (d *Splits) inject(c *Config,
	draw func(set *loader.Set, seed uint64) (*loader.Set, *inject.Injection, error)) (err error) {
	d.Train, d.injected.train, err = draw(d.Train, noiseSeed(c))
	if err == nil && d.Validation != nil {
		d.Validation, d.injected.validation, err = draw(d.Validation, rng.Derive(noiseSeed(c), "validation"))
	}
	return err
}

// flipped draws flips, and lists them if the labels are in memory.
func flipped(set *loader.Set, rates labels.Rates, seed uint64) (*loader.Set, *inject.Injection, error) {
	if set.Rows != nil {
		noisy, err := inject.WithFlippedLabels(set, rates, seed)
		return noisy, nil, err
	}
	noise, err := inject.FlipLabels(set, rates, seed)
	if err != nil {
		return nil, nil, err
	}
	noisy, err := noise.Apply(set)
	return noisy, noise, err
}

// declareTruth takes the labels of all splits as the truth, if no other truth is given.
func (d *Splits) declareTruth() {
	for _, set := range []**loader.Set{&d.Train, &d.clean, &d.Validation, &d.Test} {
		if *set != nil {
			*set = (*set).LabelsAsTruth()
		}
	}
}

// WriteFlips writes the flips of labels to a run folder, so that they can be shared.
func (d *Splits) WriteFlips(dir string) error {
	for _, file := range []struct {
		name  string
		noise *inject.Injection
	}{{FlipsFile, d.injected.train}, {ValidationFlipsFile, d.injected.validation}} {
		if file.noise == nil {
			continue
		}
		if err := file.noise.WriteFile(filepath.Join(dir, file.name)); err != nil {
			return err
		}
	}
	return nil
}

// WithTrueLabels returns the same data with the truth as labels in training and, if known, in validation.
func (d *Splits) WithTrueLabels() *Splits {
	clean := *d
	for _, set := range []**loader.Set{&clean.Train, &clean.Validation} {
		if *set != nil && (*set).KnowsTruth() {
			*set = (*set).TruthAsLabels()
		}
	}
	return &clean
}

// The files of label flips in a run folder, as nmn noise writes them, for the training and the validation
// split.
const (
	FlipsFile           = "flips.jsonl.gz"
	ValidationFlipsFile = "flips-validation.jsonl.gz"
)
