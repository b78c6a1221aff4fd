package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/loader/augment"
)

const bundleName = "augment"

// augmentFlags change pictures and labels of training at random.
func augmentFlags(cmd *cobra.Command, c *augment.Config) {
	r := under(cmd, "Augmentation")
	names := make([]string, len(augment.Bundles()))
	for i, b := range augment.Bundles() {
		names[i] = string(b)
	}
	r.set.Var(bundleFlag{c}, bundleName, "`bundle` of the settings below, which go before it: none, light (crops of "+
		"half the area or more, color jitter .2) or strong (a quarter or more, RandAugment 2,9, erasing .25)")
	r.keepAlias(bundleName, &c.Crop)
	r.completes(bundleName, names...)
	r.value(rangeFlag{&c.Crop.Area, 1}, &c.Crop.Area, "random-crop",
		"random resized crop: `share` of the area, low or low:high, for example 0.08; none for no crop")
	r.value(rangeFlag{&c.Crop.Ratio, 0}, &c.Crop.Ratio, "crop-ratio", "width to height of crops, `low:high` (default 3/4 "+
		"to 4/3)")
	r.value(jitterFlag{&c.Jitter}, &c.Jitter, "color-jitter",
		"`strengths` of the change of brightness, contrast, saturation and hue, such as 0.4,0.4,0.4,0.1; those left "+
			"out are 0")
	r.value(randFlag{&c.Rand}, &c.Rand, "rand-augment",
		"RandAugment: `N,M`, so many operations of magnitude 0 to 30, for example 2,9")
	r.float(&c.Erasing.Probability, "random-erasing", "`probability` of a picture to lose a rectangle")
	r.value(rangeFlag{&c.Erasing.Area, 0}, &c.Erasing.Area, "erasing-area",
		"share of the area that is erased, `low:high` (default 0.02:0.33)")
	r.value(rangeFlag{&c.Erasing.Ratio, 0}, &c.Erasing.Ratio, "erasing-ratio",
		"height to width of what is erased, `low:high` (default 0.3:3.3)")
	enum(r, &c.Erasing.Value, "erasing-value", "what stands there instead (default mean)", augment.FillMean,
		augment.FillNoise)
	r.float(&c.Mixup, "mixup", "mix the bags of a batch in pairs, labels too, by a share from Beta(`alpha`, alpha); for "+
		"arms without a noise model; 0 for none")
}

// bundleFlag is --augment.
type bundleFlag struct{ target *augment.Config }

func (b bundleFlag) String() string {
	if b.target == nil {
		return ""
	}
	for _, bundle := range augment.Bundles() {
		if of := bundle.Config(); of == *b.target && bundle != augment.None {
			return string(bundle)
		}
	}
	return ""
}

func (b bundleFlag) Set(s string) error {
	if !slices.Contains(augment.Bundles(), augment.Bundle(s)) {
		return fmt.Errorf("want %s", setting.Alternatives(augment.Bundles()))
	}
	*b.target = augment.Bundle(s).Config()
	return nil
}

func (b bundleFlag) Type() string { return "choice" }

// rangeFlag is two numbers, low:high. Of one number the other is most, where that is not 0.
type rangeFlag struct {
	target *augment.Range
	most   float64
}

func (r rangeFlag) String() string {
	if r.target == nil {
		return ""
	}
	return r.target.String()
}

func (r rangeFlag) Set(s string) error {
	low, high, two := strings.Cut(s, ":")
	switch {
	case r.most != 0 && (s == string(augment.None) || s == "0"):
		*r.target = augment.Range{}
		return nil
	case !two && r.most == 0:
		return fmt.Errorf("want two numbers, low:high")
	case !two:
		high = strconv.FormatFloat(r.most, 'g', -1, 64)
	}
	values, err := numbers([]string{low, high})
	if err == nil {
		*r.target = augment.Range(values)
	}
	return err
}

func (r rangeFlag) Type() string { return "range" }

// numbers reads finite numbers.
func numbers(texts []string) ([]float64, error) {
	values := make([]float64, len(texts))
	for i, text := range texts {
		v, err := number(parseFloat)(strings.TrimSpace(text))
		if err != nil || v-v != 0 {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		values[i] = v
	}
	return values, nil
}

// jitterFlag is --color-jitter.
type jitterFlag struct{ target *augment.JitterConfig }

func (j jitterFlag) String() string {
	if j.target == nil || *j.target == (augment.JitterConfig{}) {
		return ""
	}
	t := *j.target
	return fmt.Sprintf("%g,%g,%g,%g", t.Brightness, t.Contrast, t.Saturation, t.Hue)
}

func (j jitterFlag) Set(s string) error {
	parts := strings.Split(s, ",")
	if len(parts) > 4 {
		return fmt.Errorf("want at most four numbers: brightness, contrast, saturation and hue")
	}
	values, err := numbers(parts)
	if err != nil {
		return err
	}
	values = append(values, 0, 0, 0)
	*j.target = augment.JitterConfig{Brightness: values[0], Contrast: values[1], Saturation: values[2], Hue: values[3]}
	return nil
}

func (j jitterFlag) Type() string { return "numbers" }

// randFlag is --rand-augment.
type randFlag struct{ target *augment.RandConfig }

func (r randFlag) String() string {
	if r.target == nil || *r.target == (augment.RandConfig{}) {
		return ""
	}
	return fmt.Sprintf("%d,%d", r.target.Operations, r.target.Magnitude)
}

func (r randFlag) Set(s string) error {
	n, m, two := strings.Cut(s, ",")
	operations, err := strconv.Atoi(strings.TrimSpace(n))
	if !two {
		m = "0"
	}
	magnitude, second := strconv.Atoi(strings.TrimSpace(m))
	if err != nil || second != nil || !two && operations != 0 {
		return fmt.Errorf("want two whole numbers: operations and magnitude, such as 2,9")
	}
	*r.target = augment.RandConfig{Operations: operations, Magnitude: magnitude}
	return nil
}

func (r randFlag) Type() string { return "numbers" }
