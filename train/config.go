package train

import (
	"cmp"
	"fmt"
	"math"
	"path"

	"nmn/internal/setting"
	"nmn/loader/augment"
)

// Starts of the classifier's bias.
const (
	baseRate   = "base-rate"   // BaseRateLogit for every class
	labelMeans = "label-means" // the log-odds of each class's share of positive labels
)

// Rule multiplies the learning rate of the parameters whose name matches a pattern.
type Rule struct {
	// Pattern is a glob in the syntax of path.Match on names like backbone.conv1_2.weight,
	// head.fc8.bias, nmn.weight (U) and nmn.bias (b): backbone.conv[12]_* names the first two blocks.
	Pattern string `yaml:"pattern" json:"pattern"`
	// Multiplier is 0 to freeze: no gradient, no decay.
	Multiplier float64 `yaml:"multiplier" json:"multiplier"`
}

// NoiseConfig is the start and the pace of the noise model.
type NoiseConfig struct {
	// Q01 = p(z=0|y=1) and Q10 = p(z=1|y=0) at the start: one for all classes or one for each, in class
	// order. The first index is the observed label, the second the true one.
	Q01 []float32 `yaml:"miss_rate,flow" json:"miss_rate" help:"initial q01 = p(label missing | class present), one <probability> or one for each class" range:"[0,1]"`
	Q10 []float32 `yaml:"false_rate,flow" json:"false_rate" help:"initial q10 = p(label set | class absent), one <probability> or one for each class" range:"[0,1]"`
	// Deviation is the standard deviation of U at the start; 0 starts at U = 0.
	Deviation float64 `yaml:"deviation" json:"deviation" help:"standard <deviation> of the noise model's initial weights U" range:"[0,3.4e38]"`
	// WeightMultiplier and BiasMultiplier multiply the learning rate of U and of b. Rules of
	// Config.LearningRates that match nmn.weight or nmn.bias go before them.
	WeightMultiplier float64 `yaml:"weight_multiplier" json:"weight_multiplier" help:"multiply the learning rate by this <factor> for the noise model's weights U" range:"[0,3.4e38]"`
	BiasMultiplier   float64 `yaml:"bias_multiplier" json:"bias_multiplier" help:"multiply the learning rate by this <factor> for the noise model's biases b" range:"[0,3.4e38]"`
	// Transition is the held matrix of classes that exclude each other, K×K with the row of the true class. A
	// recipe sets it; empty is the identity.
	Transition []float32 `yaml:"-" json:"transition,omitempty"`
	// Frozen holds U and b at their start.
	Frozen bool `yaml:"frozen" json:"frozen" help:"keep the noise model at its initial rates"`
}

// Config is the configuration of training. The zero value is not useful: start from a preset.
type Config struct {
	Seed uint64 `yaml:"seed" json:"seed" help:"draw weights, order and dropout from this <seed>"`

	// Stage1Epochs is the number of epochs of the classifier alone. Stage2Epochs continue from there, with a
	// noise model or (baseline) without. 0 sets no limit: MaxSteps must then be set.
	Stage1Epochs int `yaml:"stage1_epochs" json:"stage1_epochs" help:"<epochs> of stage 1, the classifier alone" range:"[0,1e12]"`
	Stage2Epochs int `yaml:"stage2_epochs" json:"stage2_epochs" help:"<epochs> of stage 2" range:"[0,1e12]"`
	// MaxSteps ends each stage after this number of steps; 0 for no limit.
	MaxSteps int `yaml:"max_steps" json:"max_steps" help:"end each stage after this many <steps>, 0 for no limit" range:"[0,1e12]"`
	// BatchSize is the number of bags in a batch without MIL, BatchSizeMIL with MIL. AutoBatch leaves it to the
	// run, which finds a number before anything is trained.
	BatchSize    int `yaml:"batch_size" json:"batch_size" help:"put this many <pictures> in a batch without MIL; 0 chooses a fast number" range:"[0,1048576]"`
	BatchSizeMIL int `yaml:"batch_size_mil" json:"batch_size_mil" help:"put this many <pictures> or videos in a batch with MIL; 0 chooses a fast number" range:"[0,1048576]"`
	// Accumulate is the number of batches whose gradients make one step. The gradient is the mean over all of
	// their bags, as if they were one batch. The last step of an epoch may have fewer batches.
	Accumulate int `yaml:"accumulate" json:"accumulate" help:"average the gradients of this many <batches> for each step" range:"[1,1048576]"`
	// ChunkFrames is the number of frames that go through the layers together, 0 for whole batches. Smaller
	// chunks use less memory and take more time. The gradient is the gradient of the whole batch
	// (model.Net.ChunkFrames).
	ChunkFrames int `yaml:"chunk_frames,omitempty" json:"chunk_frames,omitempty" help:"compute this many <frames> at a time, to save memory; 0 for whole batches" range:"[0,1048576]"`
	// Overfit trains on the first batches of the first epoch at every step, to check that a net can memorise
	// them. Epochs keep their number of steps.
	Overfit bool `yaml:"overfit" json:"overfit" help:"train on the first batch only, to check that the net can learn it"`
	// Flip mirrors every picture with probability one half in each epoch.
	Flip bool `yaml:"flip" json:"flip" help:"mirror half of the pictures"`
	// Augment are further random changes of pictures and labels, drawn anew in each epoch. If Options.Online
	// scores the first epoch before it is learned from, they begin with the second.
	Augment augment.Config `yaml:"augment,omitempty" json:"augment,omitzero"`

	UpdateConfig `yaml:",inline"`

	// Loss is the loss of the classifier, in both stages. A noise model has its own.
	Loss LossConfig `yaml:"loss,omitempty" json:"loss,omitzero"`

	LearningRateConfig `yaml:",inline"`

	// WeightDecay is coupled (L2): it adds wd·w to the gradient. For adamw it is decoupled: it subtracts
	// lr·wd·w from the weight and leaves the gradient. Biases do not decay unless DecayBiases is set.
	WeightDecay float64 `yaml:"weight_decay" json:"weight_decay" help:"<factor> of the L2 penalty, or of the decoupled decay of adamw" range:"[0,3.4e38]"`
	DecayBiases bool    `yaml:"decay_biases" json:"decay_biases" help:"apply weight decay to biases too"`
	// ClipNorm limits the Euclidean norm of the gradient of all parameters together; 0 for no limit.
	ClipNorm float64 `yaml:"clip_norm" json:"clip_norm" help:"scale the gradient down to this <norm>; 0 for no limit" range:"[0,3.4e38]"`
	// EMA is the decay of a moving average of all parameters that learn, including the noise model's; 0 for
	// none. Update t of a stage keeps min(EMA, (1+t)/(10+t)) of the average and takes the rest from the
	// weights. Validations, the next stage and readers of checkpoints use the average. The raw weights
	// continue to learn, and are saved for a resumed run.
	EMA float64 `yaml:"ema" json:"ema" help:"<decay> of a moving average of the weights, which becomes the model; 0 for none" range:"[0,1)"`
	// LayerDecay multiplies the learning rate of the l-th layer below the last by its l-th power, in addition
	// to all other multipliers; 0 for none. The noise model learns at the rate of the last layer.
	LayerDecay float64 `yaml:"layer_decay,omitempty" json:"layer_decay,omitempty" help:"multiply the learning rate by this <factor> for each layer further down; 0 for none" range:"[0,1]"`
	// LearningRates are multipliers by name. The last rule that matches a parameter counts. A pattern
	// that matches no parameter is an error.
	LearningRates []Rule `yaml:"learning_rates" json:"learning_rates" help:"learning-rate multipliers of parameters, a list of {pattern, multiplier}"`
	// Freeze are patterns of parameters that do not learn. They override all multipliers.
	Freeze []string `yaml:"freeze,flow" json:"freeze" help:"parameters that stay fixed, as <pattern,...>, such as backbone.conv[12]_*"`

	// ClassifierStart is base-rate or label-means. ClassifierDeviation is the standard deviation of fc8's
	// weights at the start.
	ClassifierStart     string      `yaml:"classifier_start" json:"classifier_start" help:"initial <bias> of the last layer: one number, or from each class's share of labels" values:"base-rate,label-means"`
	BaseRateLogit       float64     `yaml:"base_rate_logit" json:"base_rate_logit" help:"classifier_start base-rate: the bias, in <log-odds>" range:"[-10000,10000]"`
	ClassifierDeviation float64     `yaml:"classifier_deviation" json:"classifier_deviation" help:"standard <deviation> of the last layer's initial weights" range:"[0,3.4e38]"`
	Noise               NoiseConfig `yaml:"noise" json:"noise"`

	// LogSteps is the number of steps between log lines.
	LogSteps int `yaml:"log_steps" json:"log_steps" help:"<steps> between log lines" range:"[1,1e12]"`
	// EvaluateEpochs and EvaluateSteps are the intervals of validation, 0 for never by that clock.
	EvaluateEpochs int `yaml:"evaluate_epochs" json:"evaluate_epochs" help:"<epochs> between validations, 0 for never" range:"[0,1e12]"`
	EvaluateSteps  int `yaml:"evaluate_steps" json:"evaluate_steps" help:"<steps> between validations, 0 for never" range:"[0,1e12]"`
	// CheckpointEpochs and CheckpointSteps are the intervals of saving, 0 for never by that clock. The
	// end of a stage, an interruption and a new best are saved in any case.
	CheckpointEpochs int `yaml:"checkpoint_epochs" json:"checkpoint_epochs" help:"<epochs> between checkpoints, 0 for never" range:"[0,1e12]"`
	CheckpointSteps  int `yaml:"checkpoint_steps" json:"checkpoint_steps" help:"<steps> between checkpoints, 0 for never" range:"[0,1e12]"`
	// CheckpointMinutes is the most time between two checkpoints, within epochs too, 0 for no limit: the first step
	// that ends later is followed by one. Checkpoints do not name it: it changes nothing in them.
	CheckpointMinutes float64 `yaml:"checkpoint_minutes" json:"-" help:"most <minutes> between checkpoints, also within an epoch; 0 for no limit" range:"[0,1e12]"`
	// KeepBest is 1 to keep the best checkpoint in addition to the last one, by the validation measure BestBy,
	// one of Measures; 0 keeps the last alone.
	KeepBest int    `yaml:"keep_best" json:"keep_best" help:"best <checkpoints> to keep in addition to the last: 1 or none" range:"[0,1]"`
	BestBy   string `yaml:"best_by" json:"best_by" help:"validation <measure> that decides which checkpoint is best" values:"human_ap,loss,map,true_map,of1,true_of1,cf1,true_cf1,brier,true_brier,ece,true_ece,accuracy,true_accuracy"`
	// Patience ends a stage after this number of validations without a new best, and returns to the best
	// checkpoint. The stage also returns to it if its limit of epochs ends it. 0 trains to the limit and
	// keeps the last weights.
	Patience int `yaml:"patience" json:"patience,omitempty" help:"end a stage after this many <validations> without a new best; 0 for never" range:"[0,1e12]"`
}

// AutoBatch stands for a number of bags that is not chosen yet.
const AutoBatch = 0

// Batch is the number of bags in a batch.
func (c Config) Batch(mil bool) int {
	if mil {
		return c.BatchSizeMIL
	}
	return c.BatchSize
}

// Epochs is the limit of stage 1 or 2, 0 for none.
func (c Config) Epochs(stage int) int {
	if stage == 1 {
		return c.Stage1Epochs
	}
	return c.Stage2Epochs
}

// Augmentations lists the random changes of pictures and labels in text, mirroring included. It is empty if
// there are none.
func (c Config) Augmentations() string {
	text := c.Augment.String()
	switch {
	case !c.Flip:
		return text
	case text == "":
		return "mirrored half of the time"
	}
	return "mirrored half of the time, " + text
}

// optimizer are the settings of the Optimizer.
func (c Config) optimizer() OptimizerConfig {
	return OptimizerConfig{UpdateConfig: c.UpdateConfig, WeightDecay: c.WeightDecay, DecayBiases: c.DecayBiases,
		ClipNorm: c.ClipNorm, Accumulate: c.Accumulate, Average: c.EMA}
}

// Validate returns an error that names the first field that is out of range.
func (c Config) Validate() error {
	if err := cmp.Or(setting.Check("train.", c), c.LearningRateConfig.Validate()); err != nil {
		return err
	}
	if err := cmp.Or(c.Loss.validate(), c.Augment.Validate("train.augment")); err != nil {
		return err
	}
	return c.validateLists()
}

func (c Config) validateLists() error {
	if c.Patience > 0 && (c.KeepBest == 0 || c.EvaluateEpochs == 0 && c.EvaluateSteps == 0) {
		return fmt.Errorf("training: patience is %d: it needs validations (evaluate_epochs or evaluate_steps) and "+
			"keep_best of at least 1",
			c.Patience)
	}
	if c.MaxSteps == 0 && (c.Stage1Epochs == 0 || c.Stage2Epochs == 0) {
		return fmt.Errorf(
			"training: max_steps is 0 and stage1_epochs is %d, stage2_epochs is %d: a stage needs a limit",
			c.Stage1Epochs, c.Stage2Epochs)
	}
	for i, r := range c.LearningRates {
		if _, err := path.Match(r.Pattern, ""); err != nil {
			return fmt.Errorf("training: learning_rates[%d].pattern is %q: %w", i, r.Pattern, err)
		}
		if !(r.Multiplier >= 0 && r.Multiplier <= math.MaxFloat32) {
			return fmt.Errorf("training: learning_rates[%d].multiplier (%q) is %v, want at least 0", i, r.Pattern, r.Multiplier)
		}
	}
	for i, pattern := range c.Freeze {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("training: freeze[%d] is %q: %w", i, pattern, err)
		}
	}
	for _, rates := range []struct {
		field  string
		values []float32
	}{{"noise.miss_rate", c.Noise.Q01}, {"noise.false_rate", c.Noise.Q10}} {
		if len(rates.values) == 0 {
			return fmt.Errorf("training: %s is empty: give one rate for all classes, or one for each", rates.field)
		}
	}
	return nil
}
