package augment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/setting"
)

// Range are the least and the greatest value of something that is drawn; the zero value stands for a default.
type Range [2]float64

// IsZero reports whether nothing is set.
func (r Range) IsZero() bool { return r == Range{} }

// String is the range as flags take it, low:high.
func (r Range) String() string {
	if r.IsZero() {
		return ""
	}
	return number(r[0]) + ":" + number(r[1])
}

// Defaults of torchvision's RandomResizedCrop and RandomErasing, for unset values.
var (
	cropRatio    = Range{3. / 4, 4. / 3}
	erasingArea  = Range{.02, .33}
	erasingRatio = Range{.3, 3.3}
)

// Config selects how pictures and labels are changed. The zero value changes nothing.
type Config struct {
	Crop    CropConfig    `yaml:"random_crop,omitempty" json:"random_crop,omitzero"`
	Jitter  JitterConfig  `yaml:"color_jitter,omitempty" json:"color_jitter,omitzero"`
	Rand    RandConfig    `yaml:"rand_augment,omitempty" json:"rand_augment,omitzero"`
	Erasing ErasingConfig `yaml:"random_erasing,omitempty" json:"random_erasing,omitzero"`
	// Mixup is α: a bag becomes λ of itself and 1-λ of another of its batch, labels too, with λ from Beta(α, α). 0 is
	// for no mixup (Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018).
	Mixup float64 `yaml:"mixup,omitempty" json:"mixup,omitempty" help:"mixup: blend two pictures and their labels, with a share from Beta(<alpha>, alpha); 0 never" range:"[0,100]"`
}

// CropConfig is a random resized crop: a part of the picture, which is then brought to the size that the whole picture
// would have been brought to.
type CropConfig struct {
	// Area is the share of the picture's area; its zero value is for no crop.
	Area Range `yaml:"area,omitempty,flow" json:"area,omitzero" help:"random resized crop: share of the area, <low:high>; 0 for none"`
	// Ratio is width to height of the crop; its zero value is for 3/4 to 4/3.
	Ratio Range `yaml:"ratio,omitempty,flow" json:"ratio,omitzero" help:"random resized crop: width/height, <low:high>; 0 is 3/4 to 4/3"`
}

// JitterConfig changes brightness, contrast, saturation and hue, in an order that is drawn. The first three are
// multiplied by a number in [max(0, 1-x), 1+x], the hue is turned by [-x, x] of a full circle.
type JitterConfig struct {
	Brightness float64 `yaml:"brightness,omitempty" json:"brightness,omitempty" help:"<strength> of random changes of brightness" range:"[0,10]"`
	Contrast   float64 `yaml:"contrast,omitempty" json:"contrast,omitempty" help:"<strength> of random changes of contrast" range:"[0,10]"`
	Saturation float64 `yaml:"saturation,omitempty" json:"saturation,omitempty" help:"<strength> of random changes of saturation" range:"[0,10]"`
	Hue        float64 `yaml:"hue,omitempty" json:"hue,omitempty" help:"<strength> of random changes of hue, at most 0.5" range:"[0,0.5]"`
}

// RandConfig is RandAugment (Cubuk et al., 2020): a number of operations, drawn with replacement, with a magnitude of 0
// to 30.
type RandConfig struct {
	Operations int `yaml:"operations,omitempty" json:"operations,omitempty" help:"RandAugment: <operations> on each picture" range:"[0,16]"`
	Magnitude  int `yaml:"magnitude,omitempty" json:"magnitude,omitempty" help:"RandAugment: <magnitude>, 0 to 30" range:"[0,30]"`
}

// Fill is the content of an erased rectangle.
type Fill string

// The fills.
const (
	FillMean  Fill = "mean"  // the mean colour, which the network sees as 0
	FillNoise Fill = "noise" // normally distributed around it
)

// ErasingConfig erases a rectangle of some pictures (Zhong et al., "Random Erasing Data Augmentation", 2020).
type ErasingConfig struct {
	// Probability is the probability that a bag loses a rectangle.
	Probability float64 `yaml:"probability,omitempty" json:"probability,omitempty" help:"random erasing: <probability> that a rectangle of a picture is erased" range:"[0,1]"`
	// Area is its share of the picture's area; the zero value is for .02 to .33.
	Area Range `yaml:"area,omitempty,flow" json:"area,omitzero" help:"random erasing: share of the area, <low:high>; 0 is 0.02:0.33"`
	// Ratio is its height to width; the zero value is for .3 to 3.3.
	Ratio Range `yaml:"ratio,omitempty,flow" json:"ratio,omitzero" help:"random erasing: height/width of the rectangle, <low:high>; 0 is 0.3:3.3"`
	Value Fill  `yaml:"value,omitempty" json:"value,omitempty" help:"random erasing: what fills the rectangle; empty is mean" values:"mean,noise"`
}

// IsZero reports whether nothing is changed.
func (c Config) IsZero() bool { return c == Config{} }

// Pictures reports whether pictures are changed by themselves, which feature vectors cannot be.
func (c Config) Pictures() bool {
	return c.crops() || c.jitters() || c.Rand.Operations > 0 || c.Erasing.Probability > 0
}

func (c Config) crops() bool   { return !c.Crop.Area.IsZero() }
func (c Config) jitters() bool { return c.Jitter != JitterConfig{} }

// Bounds of settings.
const (
	mostMagnitude = 30 // limit of RandAugment
	mostRatio     = 100
	mostAlpha     = 100
	leastAlpha    = 1e-3 // a smaller one mixes nothing
)

// Validate names the first setting that is out of range; section is the prefix of the settings, such as
// train.augment.
func (c Config) Validate(section string) error {
	if err := setting.Check(section+".", c); err != nil {
		return err
	}
	v := checks{section: section}
	v.span("random_crop.area", c.Crop.Area, 1e-4, 1)
	v.span("random_crop.ratio", c.Crop.Ratio, 1./mostRatio, mostRatio)
	v.span("random_erasing.area", c.Erasing.Area, 1e-4, 1)
	v.span("random_erasing.ratio", c.Erasing.Ratio, 1./mostRatio, mostRatio)
	v.require(c.Mixup == 0 || c.Mixup >= leastAlpha && c.Mixup <= mostAlpha, "mixup", "is %s, want 0 or %s to %d",
		number(c.Mixup), number(leastAlpha), mostAlpha)
	v.require(c.Crop.Ratio.IsZero() || c.crops(), "random_crop.ratio",
		"is %s but there is no crop: set `%s.random_crop.area` too", c.Crop.Ratio, section)
	v.require(c.Rand.Magnitude == 0 || c.Rand.Operations > 0, "rand_augment.magnitude",
		"has M %d but no operations: set N too", c.Rand.Magnitude)
	v.require(c.Erasing.Probability > 0 || c.Erasing == ErasingConfig{}, "random_erasing.probability",
		"is 0, but area, ratio or value of the erased rectangle are set: set it too, or leave them out")
	return v.err
}

// checks keeps the first error.
type checks struct {
	section string
	err     error
}

// require keeps an error about a setting if ok is false.
func (c *checks) require(ok bool, key, format string, args ...any) {
	if !ok && c.err == nil {
		key = c.section + "." + key
		c.err = setting.Errorf(key, "%s %s", key, fmt.Sprintf(format, args...))
	}
}

// span checks a range that is set.
func (c *checks) span(key string, r Range, least, most float64) {
	c.require(r.IsZero() || r[0] >= least && r[0] <= r[1] && r[1] <= most, key,
		"is %s, want two numbers of %s to %s, the smaller one first", r, number(least), number(most))
}

// number formats a number with as few digits as identify it, at most four decimals.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'g', -1, 64)
}

// String describes the changes of pictures; empty for none.
func (c Config) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.crops() {
		add("random crop %s of the area, ratio %s", c.Crop.Area, cmp.Or(c.Crop.Ratio, cropRatio))
	}
	if j := c.Jitter; c.jitters() {
		add("color jitter %s,%s,%s,%s", number(j.Brightness), number(j.Contrast), number(j.Saturation), number(j.Hue))
	}
	if c.Rand.Operations > 0 {
		add("RandAugment %d,%d", c.Rand.Operations, c.Rand.Magnitude)
	}
	if e := c.Erasing; e.Probability > 0 {
		add("random erasing %s by %s", number(e.Probability), e.fill())
	}
	if c.Mixup > 0 {
		add("mixup %s", number(c.Mixup))
	}
	return strings.Join(parts, ", ")
}

func (e ErasingConfig) fill() Fill { return cmp.Or(e.Value, FillMean) }

// Bundle names a choice of augmentations.
type Bundle string

// The bundles. None of them mixes bags: noise models learn from labels, not from mixtures of labels.
const (
	None   Bundle = "none"
	Light  Bundle = "light"  // half of the area or more, and slightly other colours
	Strong Bundle = "strong" // a quarter of the area or more, two operations of RandAugment, and erasing
)

// Bundles lists them.
func Bundles() []Bundle { return []Bundle{None, Light, Strong} }

// Config returns the configuration of a bundle.
func (b Bundle) Config() Config {
	switch b {
	case Light:
		return Config{
			Crop:   CropConfig{Area: Range{.5, 1}},
			Jitter: JitterConfig{Brightness: .2, Contrast: .2, Saturation: .2, Hue: .02},
		}
	case Strong:
		return Config{
			Crop:    CropConfig{Area: Range{.25, 1}},
			Rand:    RandConfig{Operations: 2, Magnitude: 9},
			Erasing: ErasingConfig{Probability: .25},
		}
	}
	return Config{}
}

// UnmarshalYAML reads the settings, or the name of a bundle in the place of all of them.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	var bundle Bundle
	if unmarshal(&bundle) != nil {
		type settings Config
		return unmarshal((*settings)(c))
	}
	if bundle != "" && !slices.Contains(Bundles(), bundle) {
		return setting.Errorf("train.augment", "train.augment is %q, want %s, or settings of its own", bundle,
			setting.Alternatives(Bundles()))
	}
	*c = bundle.Config()
	return nil
}
