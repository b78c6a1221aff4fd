package train

import (
	"fmt"
	"math"
)

// Optimizer kinds.
const (
	SGD   = "sgd"   // with momentum
	Adam  = "adam"  // Kingma and Ba, with bias correction
	AdamW = "adamw" // Adam with decoupled weight decay (Loshchilov and Hutter)
)

// Optimizers lists their names.
func Optimizers() []string { return []string{SGD, Adam, AdamW} }

// UpdateConfig is how gradients change parameters, of classifiers and captioners.
type UpdateConfig struct {
	Optimizer string  `yaml:"optimizer" json:"optimizer"` // one of Optimizers
	Momentum  float64 `yaml:"momentum" json:"momentum"`   // of sgd
	Beta1     float64 `yaml:"beta1" json:"beta1"`         // of adam and adamw
	Beta2     float64 `yaml:"beta2" json:"beta2"`         // of adam and adamw
	Epsilon   float64 `yaml:"epsilon" json:"epsilon"`     // of adam and adamw, outside the root
}

// Schedules of the learning rate. Warm-up comes before each of them.
const (
	Constant = "constant"
	StepDown = "step"   // times StepFactor every StepEvery steps
	Cosine   = "cosine" // half a cosine from the learning rate to CosineFloor times it, over the whole stage
)

// RateConfig is the learning rate and its schedule, of classifiers and captioners.
type RateConfig struct {
	// LearningRate is for a loss that is summed over the classes of a bag, or the words of a caption, and
	// averaged over bags or captions.
	LearningRate float64 `yaml:"learning_rate" json:"learning_rate"`
	Schedule     string  `yaml:"schedule" json:"schedule"`         // constant, step or cosine
	WarmupSteps  int     `yaml:"warmup_steps" json:"warmup_steps"` // of linear rise from 1/WarmupSteps of the rate
	StepEvery    int     `yaml:"step_every" json:"step_every"`     // steps between drops of schedule step
	StepFactor   float64 `yaml:"step_factor" json:"step_factor"`   // of one drop
	CosineFloor  float64 `yaml:"cosine_floor" json:"cosine_floor"` // share of the rate at the end of schedule cosine
}

// Validate names the first field that is out of range.
func (c OptimizerConfig) Validate() error {
	return validate(c.bounds(), choice{"optimizer", c.Optimizer, Optimizers()})
}

// Validate names the first field that is out of range.
func (c RateConfig) Validate() error {
	return validate(c.bounds(), choice{"schedule", c.Schedule, []string{Constant, StepDown, Cosine}})
}

func (c OptimizerConfig) bounds() []bound {
	below1 := math.Nextafter(1, 0)
	return []bound{
		{"momentum", c.Momentum, 0, below1, false},
		{"beta1", c.Beta1, 0, below1, false},
		{"beta2", c.Beta2, 0, below1, false},
		{"epsilon", c.Epsilon, 0, math.MaxFloat32, true},
		{"weight_decay", c.WeightDecay, 0, math.MaxFloat32, false},
		{"ema", c.Average, 0, below1, false},
		{"clip_norm", c.ClipNorm, 0, math.MaxFloat32, false},
	}
}

func (c RateConfig) bounds() []bound {
	all := []bound{
		{"learning_rate", c.LearningRate, 0, math.MaxFloat32, true},
		{"warmup_steps", float64(c.WarmupSteps), 0, mostSteps, false},
	}
	switch c.Schedule {
	case StepDown:
		all = append(all, bound{"step_every", float64(c.StepEvery), 1, mostSteps, false},
			bound{"step_factor", c.StepFactor, 0, 1, true})
	case Cosine:
		all = append(all, bound{"cosine_floor", c.CosineFloor, 0, 1, false})
	}
	return all
}

// mostSteps keeps products of counts within an int64.
const mostSteps = 1 << 40

// bound is a number with its allowed range.
type bound struct {
	field         string
	value, lo, hi float64
	open          bool // lo itself is not allowed
}

func (b bound) check() error {
	if b.value >= b.lo && b.value <= b.hi && !(b.open && b.value == b.lo) {
		return nil
	}
	want := fmt.Sprintf("at least %g", b.lo)
	if b.open {
		want = fmt.Sprintf("more than %g", b.lo)
	}
	if !math.IsInf(b.hi, 1) {
		want += fmt.Sprintf(" and at most %g", b.hi)
	}
	return fmt.Errorf("training: %s is %v, want %s", b.field, b.value, want)
}

// choice is a word with those that are allowed.
type choice struct {
	field, value string
	allowed      []string
}

func (c choice) check() error {
	for _, a := range c.allowed {
		if c.value == a {
			return nil
		}
	}
	return fmt.Errorf("training: %s is %q, want one of %q", c.field, c.value, c.allowed)
}

// validate names the first number or word that is not allowed.
func validate(bounds []bound, choices ...choice) error {
	for _, b := range bounds {
		if err := b.check(); err != nil {
			return err
		}
	}
	for _, c := range choices {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}
