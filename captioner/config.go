package captioner

import (
	"cmp"
	"fmt"

	"nmn/internal/setting"
	"nmn/train"
)

// Config is how a captioner is trained. The zero value is not useful: start from DefaultConfig.
type Config struct {
	Seed uint64 `yaml:"seed" json:"seed" help:"draw weights, order and dropout from this <seed>"`
	// Epochs is the most epochs, MaxSteps the most steps, 0 for no limit by that clock; one must be set.
	Epochs   int `yaml:"epochs" json:"epochs" help:"train for at most this many <epochs>; 0 for no limit" range:"[0,1e9]"`
	MaxSteps int `yaml:"max_steps" json:"max_steps" help:"most <steps>; 0 for no limit" range:"[0,1e9]"`
	// Batch is the number of captions in a step, each with its clip.
	Batch int `yaml:"batch" json:"batch" help:"put this many <captions> in a batch, each with its clip" range:"[1,65536]"`

	train.UpdateConfig       `yaml:",inline"`
	train.LearningRateConfig `yaml:",inline"`

	// WeightDecay is coupled (L2): it is added to the gradient of weights, not of biases.
	WeightDecay float64 `yaml:"weight_decay" json:"weight_decay" help:"<factor> of the L2 penalty on weights, not on biases" range:"[0,3.4e38]"`
	// ClipNorm limits the Euclidean norm of the gradient of all parameters together; 0 for no limit.
	ClipNorm float64 `yaml:"clip_norm" json:"clip_norm" help:"scale the gradient down to this <norm>; 0 for no limit" range:"[0,3.4e38]"`

	// LogSteps is the number of steps between those that observers should log.
	LogSteps int `yaml:"log_steps" json:"log_steps" help:"<steps> between log lines" range:"[1,1e9]"`
	// ValidateEpochs is the interval of validation, 0 for never.
	ValidateEpochs int `yaml:"validate_epochs" json:"validate_epochs" help:"<epochs> between validations; 0 for none" range:"[0,1e9]"`
	// CheckpointSteps is the interval of saving within an epoch, 0 for none. The end of an epoch, an
	// interruption and a new best are saved in any case.
	CheckpointSteps int `yaml:"checkpoint_steps" json:"checkpoint_steps" help:"<steps> between checkpoints within an epoch; 0 for none" range:"[0,1e9]"`
	// CheckpointMinutes is the most time between two checkpoints, 0 for no limit: the first step that ends later is
	// followed by one. Checkpoints do not name it: it changes nothing in them.
	CheckpointMinutes float64 `yaml:"checkpoint_minutes" json:"-" help:"most <minutes> between checkpoints, also within an epoch; 0 for no limit" range:"[0,1e9]"`
	// Patience ends training after this number of validations without a new best; 0 trains to the limit.
	Patience int `yaml:"patience" json:"patience" help:"end after this many <validations> without a better CIDEr-D; 0 for never" range:"[0,1e9]"`
}

// DefaultConfig is Adam with batches of 32 captions, and a validation after every epoch.
func DefaultConfig() Config {
	return Config{Seed: 1, Epochs: 30, Batch: 32,
		UpdateConfig: train.UpdateConfig{Optimizer: train.Adam, Momentum: .9, Beta1: .9, Beta2: .999, Epsilon: 1e-8},
		LearningRateConfig: train.LearningRateConfig{LearningRate: 1e-3, Schedule: train.Constant, StepEvery: 2000,
			StepFactor: .5},
		ClipNorm: 5, LogSteps: 50, ValidateEpochs: 1, CheckpointSteps: 1000,
		CheckpointMinutes: train.DefaultCheckpointMinutes, Patience: 5}
}

// Steps is the number of updates with a number of batches in each epoch, if patience does not end training.
func (c Config) Steps(batches int) int { return c.limits().Total(batches) }

func (c Config) limits() train.Limits {
	return train.Limits{Epochs: c.Epochs, Steps: c.MaxSteps, Patience: c.Patience}
}

// Validate names the first field that is out of range.
func (c Config) Validate() error {
	if err := setting.Check("train.", c); err != nil {
		return err
	}
	switch {
	case c.Epochs == 0 && c.MaxSteps == 0:
		return fmt.Errorf("captioning: epochs and max_steps are both 0: training needs a limit")
	case c.Patience > 0 && c.ValidateEpochs == 0:
		return fmt.Errorf("captioning: patience is %d and validate_epochs 0: patience counts validations", c.Patience)
	}
	if err := cmp.Or(c.optimizer().Validate(), c.LearningRateConfig.Validate()); err != nil {
		return fmt.Errorf("captioning: %w", err)
	}
	return nil
}

// optimizer are the settings of the train.Optimizer.
func (c Config) optimizer() train.OptimizerConfig {
	return train.OptimizerConfig{UpdateConfig: c.UpdateConfig, WeightDecay: c.WeightDecay, ClipNorm: c.ClipNorm}
}
