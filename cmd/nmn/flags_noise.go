package main

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/spf13/cobra"

	"nmn/model"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// noiseStartFlag is --noise-start: all settings of the noise model's start and pace under one name.
type noiseStartFlag struct{ target *train.NoiseConfig }

// noiseStarts lists the names in the order of messages.
var noiseStarts = [...]struct {
	name   string
	config func() train.NoiseConfig
}{{"scenes", train.InformedNoise}, {"paper", train.PaperNoise}}

func (n noiseStartFlag) String() string {
	for _, start := range noiseStarts {
		if n.target != nil && reflect.DeepEqual(*n.target, start.config()) {
			return start.name
		}
	}
	return ""
}

func (n noiseStartFlag) Set(s string) error {
	for _, start := range noiseStarts {
		if s == start.name {
			*n.target = start.config()
			return nil
		}
	}
	return fmt.Errorf("want %s or %s", noiseStarts[0].name, noiseStarts[1].name)
}

func (n noiseStartFlag) Type() string { return "start" }

// noiseFlag takes a rate or the name of a file.
type noiseFlag struct {
	rate *float64
	file *string
}

func (n noiseFlag) String() string {
	switch {
	case n.rate == nil:
		return ""
	case *n.file != "":
		return *n.file
	}
	return strconv.FormatFloat(*n.rate, 'g', -1, 64)
}

func (n noiseFlag) Set(s string) error {
	rate, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		*n.rate, *n.file = 0, s
	case !(rate >= 0 && rate < 1):
		return fmt.Errorf("a rate is at least 0 and less than 1")
	default:
		*n.rate, *n.file = rate, ""
	}
	return nil
}

func (n noiseFlag) Type() string { return "rate|file" }

func noiseModelFlags(cmd *cobra.Command, c *run.Config) {
	n := &c.Train.Noise
	r := under(cmd, "Noise model")
	r.value(noiseStartFlag{n}, n, "noise-start", "start and pace of the noise model together, as `scenes|paper`: "+
		"rates .35 and .16 with U at a tenth of the rate, "+
		"or the paper's plain form, a flip of .036 and factors 10 and 20; the flags below change single settings")
	r.float32s(&n.Q01, "miss-rate", "q01 = p(label missing | concept there) at the start, a `probability` for all "+
		"classes or one for each")
	r.float32s(&n.Q10, "false-rate", "q10 = p(label there | concept missing) at the start, a `probability` likewise")
	r.float(&n.Deviation, "noise-deviation", "standard `deviation` of U at the start")
	r.float(&n.WeightMultiplier, "noise-weight-multiplier", "learning-rate `factor` of U")
	r.float(&n.BiasMultiplier, "noise-bias-multiplier", "learning-rate `factor` of b")
	r.bool(&n.Frozen, "noise-frozen", "hold the noise model at its start")
}

// noiseModelFlag is --noise-model, another way to name the arm of stage 2.
type noiseModelFlag struct{ arm *recipe.Name }

func (n noiseModelFlag) String() string {
	if n.arm == nil {
		return ""
	}
	return string(n.arm.Noise())
}

func (n noiseModelFlag) Set(s string) error {
	for _, a := range []recipe.Name{recipe.Star, recipe.FI, recipe.FD} {
		if string(a.Noise()) == s {
			*n.arm = a
			return nil
		}
	}
	return fmt.Errorf("want %s, %s or %s", model.NoNoise, model.FeatureIndependent, model.FeatureDependent)
}

func (n noiseModelFlag) Type() string { return "choice" }
