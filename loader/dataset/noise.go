package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/rng"
	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/labels"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/text"
)

// NoiseConfig is noise that is injected into the training labels.
type NoiseConfig struct {
	Noise      float64     `yaml:"noise" help:"replace this <share> of each training picture's captions by captions of other pictures" range:"[0,1)"`
	NoiseKind  inject.Kind `yaml:"noise_kind,omitempty" help:"how data.noise replaces captions, or one label a row: symmetric, asymmetric, instance (docs/guide/evaluation.md)" values:"uniform,uneven,content,similar,pair,shift,symmetric,asymmetric,instance"`
	NoiseFile  string      `yaml:"noise_file" help:"apply the noise in this <file> of nmn noise instead of drawing noise"`
	Flips      FlipLevel   `yaml:"flips" help:"flip labels with these probabilities, <missing:incorrect>; in training and validation"`
	FlipSpread float64     `yaml:"flip_spread" help:"let the flip rates of a class differ from data.flips by at most this <share>" range:"[0,1)"`
	FlipRates  string      `yaml:"flip_rates" help:"<file> with the flip rates of each class: class, q01, q10"`
	NoiseSeed  uint64      `yaml:"noise_seed" help:"<seed> of label noise; 0 takes data.seed"`
}

// checkNoise refuses noise that the data cannot have.
func (d *Config) checkNoise() error {
	_, _, err := d.Flips.Rates()
	switch {
	case err != nil:
		return fmt.Errorf("data.%w", err)
	case d.NoiseKind != "" && !d.NoiseKind.Relabels() && (d.relabels() || !d.Captioned()):
		return setting.Errorf("data.noise_kind", "`data.noise_kind` %s replaces captions, which these data do not have: "+
			"give symmetric, asymmetric or instance", d.NoiseKind)
	case !d.Captioned() && d.Noise > 0 && !d.NoiseKind.Relabels():
		return fmt.Errorf("data.noise is %g: %s have no captions to replace; flip labels (`data.flips` 0.3:0.1) or give a "+
			"noise file", d.Noise, d.Noun())
	case (d.Noise > 0 || d.NoiseFile != "") && (d.Flips != "" || d.FlipRates != ""):
		return errors.New("data.noise and data.flips both inject noise: choose one")
	}
	return nil
}

// FlipLevel is label noise by flips: two shares such as 0.3:0.1, the probability that a label that holds
// goes missing, and that one that does not hold is set. Empty flips nothing.
type FlipLevel string

// Rates are both probabilities.
func (f FlipLevel) Rates() (missing, incorrect float64, err error) {
	if f == "" {
		return 0, 0, nil
	}
	left, right, two := strings.Cut(string(f), ":")
	missing, wrong := strconv.ParseFloat(strings.TrimSpace(left), 64)
	incorrect, wrongToo := strconv.ParseFloat(strings.TrimSpace(right), 64)
	probabilities := missing >= 0 && missing <= 1 && incorrect >= 0 && incorrect <= 1
	if !two || wrong != nil || wrongToo != nil || !probabilities {
		return 0, 0, fmt.Errorf("flips are %q, want two probabilities missing:incorrect, such as 0.3:0.1", f)
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

func (f *FlipLevel) String() string { return string(*f) }

func (f *FlipLevel) Type() string { return "missing:incorrect" }

// relabels reports whether noise replaces the one label of each bag.
func (d *Config) relabels() bool {
	return d.NoiseKind.Relabels() || d.Set == Scenes && d.Classes == Exclusive
}

// injectNoise makes the labels of training noisy, as configured. If single labels are flipped or replaced, and not
// captions, it does so in validation too: that split chooses the epoch to stop at, by labels as noisy as in training.
func (d *Splits) injectNoise(ctx context.Context, c *Config) (err error) {
	var draw func(set *loader.Set, seed uint64) (*inject.Injection, error)
	var stream func(set *loader.Set, seed uint64) (*loader.Set, error) // for labels that are not in memory
	flips, relabels := c.Flips != "" || c.FlipRates != "", c.relabels()
	switch {
	case (flips || c.NoiseFile != "") && d.Train.HasUnknown():
		return setting.Errorf("data.flips", "noise is injected into true labels, but %s has unknown labels: leave out "+
			"`data.flips`, `data.flip_rates` and `data.noise`", d.Train.Name)
	case c.NoiseFile != "" && d.Train.Rows != nil:
		return setting.Errorf("data.noise_file", "data.noise_file is %s: it lists what is drawn for every clip, and the "+
			"labels do not fit into memory: raise `run.label_memory`, or give a share", c.NoiseFile)
	case flips:
		rates, err := d.flipRates(c)
		if err != nil {
			return err
		}
		draw = func(set *loader.Set, seed uint64) (*inject.Injection, error) {
			return inject.FlipLabels(set, rates, seed)
		}
		stream = func(set *loader.Set, seed uint64) (*loader.Set, error) {
			return inject.WithFlippedLabels(set, rates, seed)
		}
	case c.NoiseFile != "":
		draw = func(set *loader.Set, _ uint64) (*inject.Injection, error) { return inject.Read(ctx, c.NoiseFile, set) }
	case c.Noise == 0:
		return nil
	case relabels:
		d.Noise, d.NoiseKind = c.Noise, cmp.Or(c.NoiseKind, inject.Symmetric)
		draw = func(set *loader.Set, seed uint64) (*inject.Injection, error) {
			if why := notExclusive(set); why != "" {
				return nil, fmt.Errorf("`data.noise_kind` %s replaces the one label of each row, and %s", d.NoiseKind, why)
			}
			return inject.Relabel(ctx, set, d.NoiseKind, c.Noise, seed)
		}
	default:
		d.Noise, d.NoiseKind = c.Noise, cmp.Or(c.NoiseKind, inject.Uniform)
		draw = func(set *loader.Set, seed uint64) (*inject.Injection, error) {
			return inject.ReplaceCaptions(set, d.NoiseKind, c.Noise, seed)
		}
		stream = func(set *loader.Set, seed uint64) (*loader.Set, error) {
			return inject.WithReplacedCaptions(ctx, set, d.NoiseKind, c.Noise, seed)
		}
	}
	makeNoisy := func(set **loader.Set, seed uint64) (drawn *inject.Injection, err error) {
		if (*set).Rows != nil && stream != nil {
			*set, err = stream(*set, seed)
			return nil, err
		}
		if drawn, err = draw(*set, seed); err == nil {
			*set, err = drawn.Apply(*set)
		}
		return drawn, err
	}
	single := flips || relabels && c.NoiseFile == ""
	if single || c.NoiseFile != "" && !c.Captioned() {
		d.declareTruth()
	}
	seed := cmp.Or(c.NoiseSeed, c.Seed)
	drawn, err := makeNoisy(&d.Train, seed)
	if err != nil {
		return err
	}
	if c.NoiseFile != "" && drawn.Kind != inject.Flips {
		d.Noise, d.NoiseKind = drawn.Share, drawn.Kind
	}
	if !single {
		return nil
	}
	d.injected = map[string]*inject.Injection{FlipsFile: drawn}
	if d.Validation != nil {
		d.injected[ValidationFlipsFile], err = makeNoisy(&d.Validation, rng.Derive(seed, "validation"))
	}
	return err
}

// flipRates are the rates of each class at the level of a configuration. It notes their means for tables.
func (d *Splits) flipRates(c *Config) (rates labels.Rates, err error) {
	if c.FlipRates != "" {
		rates, err = inject.ReadFlipRates(c.FlipRates, d.Train.Vocabulary)
		d.Flips = labels.FlipRates{Q01: mean(rates.Q01), Q10: mean(rates.Q10)}
		return rates, err
	}
	d.Flips.Q01, d.Flips.Q10, err = c.Flips.Rates() // the level that was asked for, whatever is drawn around it
	if err != nil {
		return rates, err
	}
	return inject.RandomRates(d.Train.Vocabulary.Len(), d.Flips.Q01, d.Flips.Q10, c.FlipSpread,
		cmp.Or(c.NoiseSeed, c.Seed)), nil
}

func mean(rates []float64) float64 {
	sum := 0.0
	for _, v := range rates {
		sum += v
	}
	return sum / float64(max(len(rates), 1))
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
	for name, noise := range d.injected {
		if noise == nil { // the labels are not in memory
			continue
		}
		if err := noise.WriteFile(filepath.Join(dir, name)); err != nil {
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

// The files of label flips in a run folder, as nmn noise writes them, for the training and the validation split.
const (
	FlipsFile           = "flips.jsonl.gz"
	ValidationFlipsFile = "flips-validation.jsonl.gz"
)

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
		mean := d.noisy.Mean
		d.options.Log.Info("label noise", "missing", fmt.Sprintf("%.3f", float64(mean.Q01)), "incorrect",
			fmt.Sprintf("%.3f", float64(mean.Q10)), "against", d.noisy.Reference)
	}
	return nil
}

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
		text.Count(len(d.Census.Positive), "classes"), float64(d.Census.Labels())/float64(d.Census.Bags))
	if most := d.mostFrequent(); most != "" {
		line += ",\n        most often " + most
	}
	if s := d.noisy; s != nil && !math.IsNaN(float64(s.Mean.Q01)) {
		line += fmt.Sprintf("\nlabels  %.1f %% of the true ones are missing,\n        %.1f %% of the others are incorrect "+
			"(mean over classes, against the %s)",
			100*float64(s.Mean.Q01), 100*float64(s.Mean.Q10),
			map[string]string{"truth": "truth", "labels": "labels without injected noise"}[s.Reference])
	}
	for _, note := range append([]string{d.Labels}, d.notes...) {
		if note != "" {
			line += "\n        " + note
		}
	}
	return line
}
