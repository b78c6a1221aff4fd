package train

import (
	"math"

	"nmn/internal/setting"
)

// Optimizer kinds.
const (
	SGD   = "sgd"   // with momentum
	Adam  = "adam"  // Kingma and Ba, with bias correction
	AdamW = "adamw" // Adam with decoupled weight decay (Loshchilov and Hutter)
)

// UpdateConfig is how gradients change parameters, of classifiers and captioners.
type UpdateConfig struct {
	Optimizer string  `yaml:"optimizer" json:"optimizer" help:"<optimizer>" values:"sgd,adam,adamw"`
	Momentum  float64 `yaml:"momentum" json:"momentum" help:"<momentum> of sgd" range:"[0,1)"`
	Beta1     float64 `yaml:"beta1" json:"beta1" help:"<decay> of the first moment of adam and adamw" range:"[0,1)"`
	Beta2     float64 `yaml:"beta2" json:"beta2" help:"<decay> of the second moment of adam and adamw" range:"[0,1)"`
	Epsilon   float64 `yaml:"epsilon" json:"epsilon" help:"epsilon of adam and adamw, a <number> added to the root of the second moment" range:"(0,3.4e38]"`
}

// Schedules of the learning rate. Each begins after the warm-up.
const (
	Constant = "constant"
	StepDown = "step"   // times StepFactor every StepEvery steps
	Cosine   = "cosine" // half a cosine from the learning rate to CosineFloor times it, over the whole stage
)

// LearningRateConfig is the learning rate and its schedule, of classifiers and captioners.
type LearningRateConfig struct {
	// LearningRate is for a loss that is summed over the classes of a bag, or the words of a caption, and
	// averaged over bags or captions.
	LearningRate float64 `yaml:"learning_rate" json:"learning_rate" help:"set the learning <rate>; the loss is summed over classes and averaged over pictures" range:"(0,3.4e38]"`
	Schedule     string  `yaml:"schedule" json:"schedule" help:"<schedule> of the learning rate" values:"constant,step,cosine"`
	WarmupSteps  int     `yaml:"warmup_steps" json:"warmup_steps" help:"raise the learning rate linearly over this many <steps>" range:"[0,1e12]"`
	StepEvery    int     `yaml:"step_every" json:"step_every" help:"schedule step: <steps> between drops" range:"[0,1e12]"`
	StepFactor   float64 `yaml:"step_factor" json:"step_factor" help:"schedule step: multiply the learning rate by this <factor> at each drop" range:"[0,1]"`
	CosineFloor  float64 `yaml:"cosine_floor" json:"cosine_floor" help:"schedule cosine: <share> of the learning rate left at the end" range:"[0,1]"`
}

// Validate returns an error that names the first field that is out of range.
func (c OptimizerConfig) Validate() error {
	switch {
	case !(c.WeightDecay >= 0 && c.WeightDecay <= math.MaxFloat32):
		return setting.Errorf("train.weight_decay", "train.weight_decay is %v, want at least 0", c.WeightDecay)
	case !(c.ClipNorm >= 0 && c.ClipNorm <= math.MaxFloat32):
		return setting.Errorf("train.clip_norm", "train.clip_norm is %v, want at least 0", c.ClipNorm)
	case !(c.Average >= 0 && c.Average < 1):
		return setting.Errorf("train.ema", "train.ema is %v, want at least 0 and less than 1", c.Average)
	}
	return setting.Check("train.", c.UpdateConfig)
}

// Validate returns an error that names the first field that is out of range.
func (c LearningRateConfig) Validate() error {
	switch {
	case c.Schedule == StepDown && c.StepEvery < 1:
		return setting.Errorf("train.step_every", "train.step_every is %d, want at least 1", c.StepEvery)
	case c.Schedule == StepDown && c.StepFactor == 0:
		return setting.Errorf("train.step_factor", "train.step_factor is 0, want more than 0")
	}
	return setting.Check("train.", c)
}
