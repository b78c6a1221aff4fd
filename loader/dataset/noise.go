package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/labels"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/text"
)

// NoiseConfig is noise that is injected into the training labels.
type NoiseConfig struct {
	Noise float64 `yaml:"noise" help:"replace this <share> of each training picture's captions by captions of other pictures" range:"[0,1)"`
	// NoiseKind is how captions are replaced; empty is uniform.
	NoiseKind inject.Kind `yaml:"noise_kind,omitempty" help:"how data.noise replaces captions, or one label a row: symmetric, asymmetric (docs/guide/evaluation.md)" values:"uniform,uneven,similar,pair,shift,symmetric,asymmetric"`
	NoiseFile string      `yaml:"noise_file" help:"apply the noise in this <file> of nmn noise instead of drawing noise"`
	// Flips inject noise by flipping labels: both rates, the largest relative deviation of a class's rates
	// from them, or a file with the rates of each class.
	Flips      FlipLevel `yaml:"flips" help:"flip training and validation labels with these probabilities, <missing:incorrect>"`
	FlipSpread float64   `yaml:"flip_spread" help:"let the flip rates of a class differ from data.flips by at most this <share>" range:"[0,1)"`
	FlipRates  string    `yaml:"flip_rates" help:"<file> with the flip rates of each class: class, q01, q10"`
	NoiseSeed  uint64    `yaml:"noise_seed" help:"<seed> of label noise; 0 takes data.seed"`
}

// checkNoise refuses noise that the data cannot have.
func (d *Config) checkNoise() error {
	_, _, err := d.Flips.Rates()
	switch {
	case err != nil:
		return fmt.Errorf("data.%w", err)
	case d.relabels() && !d.NoiseKind.Relabels() && d.NoiseKind != "":
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which scenes with one label do "+
			"not have: give symmetric or asymmetric", d.NoiseKind)
	case d.NoiseKind != "" && !d.NoiseKind.Relabels() && !d.Captioned():
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which %s do not have: give "+
			"symmetric or asymmetric", d.NoiseKind, d.Noun())
	case !d.Captioned() && d.Noise > 0 && !d.NoiseKind.Relabels():
		return fmt.Errorf("data.noise is %g: %s have no captions to replace; flip labels (`data.flips` 0.3:0.1) or give a "+
			"noise file", d.Noise, d.Noun())
	case (d.Noise > 0 || d.NoiseFile != "") && (d.Flips != "" || d.FlipRates != ""):
		return errors.New("data.noise and data.flips both inject noise: choose one")
	}
	return nil
}

// injectNoise makes the training labels noisy, as configured.
func (d *Splits) injectNoise(ctx context.Context, c *Config) error {
	var drawn *inject.Injection
	var err error
	switch {
	case (c.Flips != "" || c.FlipRates != "" || c.NoiseFile != "") && d.Train.HasUnknown():
		return setting.Errorf("data.flips",
			"noise is injected into true labels, but %s has unknown labels: leave out "+
				"`data.flips`, `data.flip_rates` and `data.noise`", d.Train.Name)
	case c.Flips != "" || c.FlipRates != "":
		return d.injectFlips(c)
	case c.NoiseFile != "" && d.Train.Rows != nil:
		return setting.Errorf("data.noise_file",
			"data.noise_file is %s: it lists what is drawn for every clip, and the labels do not fit into memory: raise "+
				"`run.label_memory`, or give a share",
			c.NoiseFile)
	case c.NoiseFile != "":
		if !c.Captioned() {
			d.declareTruth()
		}
		drawn, err = inject.Read(ctx, c.NoiseFile, d.Train)
	case c.Noise > 0 && c.relabels():
		return d.relabel(c)
	case c.Noise > 0:
		kind := cmp.Or(c.NoiseKind, inject.Uniform)
		if d.Train.Rows != nil {
			d.Noise, d.NoiseKind = c.Noise, kind
			d.Train, err = inject.WithReplacedCaptions(ctx, d.Train, kind, c.Noise, noiseSeed(c))
			return err
		}
		drawn, err = inject.ReplaceCaptions(d.Train, kind, c.Noise, noiseSeed(c))
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if drawn.Kind != inject.Flips {
		d.Noise, d.NoiseKind = drawn.Share, drawn.Kind
	}
	d.Train, err = drawn.Apply(d.Train)
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

func noiseSeed(c *Config) uint64 {
	if c.NoiseSeed != 0 {
		return c.NoiseSeed
	}
	return c.Seed
}

// survey reads the training labels once. If noise was injected into labels without known truth, it reads them
// again to compare them with the original ones.
func (d *Splits) survey(ctx context.Context, c *Config) (err error) {
	if d.Census, err = d.Train.Census(ctx); err != nil {
		return err
	}
	switch {
	case c.Set == Clips && d.Census.Labels() == 0: // for other data this was checked when reading
		return unlabelled(d.Train, c)
	case d.Census.Confusion != nil:
		d.noisy = inject.OfCensus(d.Census, d.Train)
	case d.clean == d.Train:
		return nil
	default:
		if d.noisy, err = inject.Measure(ctx, d.clean, d.Train); err != nil {
			return err
		}
	}
	if d.clean != d.Train {
		d.options.Log.Info("label noise", "missing", rounded(d.noisy.Mean.Q01), "incorrect", rounded(d.noisy.Mean.Q10),
			"against", d.noisy.Reference)
	}
	return nil
}

func rounded(r inject.Rate) string { return fmt.Sprintf("%.3f", float64(r)) }

// mostFrequent are the three classes on most training bags, with their numbers.
func (d *Splits) mostFrequent() string {
	classes := make([]int, len(d.Census.Positive))
	for k := range classes {
		classes[k] = k
	}
	slices.SortStableFunc(classes, func(a, b int) int { return d.Census.Positive[b] - d.Census.Positive[a] })
	var most []string
	for _, k := range classes[:min(3, len(classes))] {
		if n := d.Census.Positive[k]; n > 0 {
			most = append(most, fmt.Sprintf("%s (%d)", visible.Line(d.Train.Vocabulary.Word(k).Text), n))
		}
	}
	return strings.Join(most, ", ")
}

// Describe returns a description of the data in a few lines.
func (d *Splits) Describe() string {
	size := func(s *loader.Set) int {
		if s == nil {
			return 0
		}
		return s.Len()
	}
	line := fmt.Sprintf("data    %s: %d training, %d validation, %d test %s,\n        %s, %.2f labels each",
		d.Train.Name, d.Train.Len(), size(d.Validation), size(d.Test), d.Train.Noun(),
		text.Count(len(d.Census.Positive), "classes"),
		float64(d.Census.Labels())/float64(d.Census.Bags))
	if most := d.mostFrequent(); most != "" {
		line += ",\n        most often " + most
	}
	if s := d.noisy; s != nil && !math.IsNaN(float64(s.Mean.Q01)) {
		line += fmt.Sprintf("\nlabels  %.1f %% of the true ones are missing,\n        %.1f %% of the others are incorrect "+
			"(mean over classes, against the %s)",
			100*float64(s.Mean.Q01), 100*float64(s.Mean.Q10),
			map[string]string{"truth": "truth", "labels": "labels without injected noise"}[s.Reference])
	}
	if d.labelSource != "" {
		line += "\n        " + d.labelSource
	}
	if d.alike != "" {
		line += "\n        " + d.alike
	}
	if d.learned != "" {
		line += "\n        " + d.learned
	}
	return line
}
