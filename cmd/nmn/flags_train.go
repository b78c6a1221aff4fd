package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"nmn/run"
	"nmn/train"
)

func trainFlags(cmd *cobra.Command, c *run.Config) {
	t := &c.Train
	r := under(cmd, "Training")
	r.uint64(&t.Seed, "seed", "`seed` of the start, the order and dropout")
	r.set.Var(bothEpochs{t}, "epochs", "`epochs` of both stages; --stage1-epochs and --stage2-epochs set one")
	r.keepAlias("epochs", &t.Stage1Epochs)
	r.int(&t.Stage1Epochs, "stage1-epochs", "`epochs` of stage 1, the classifier alone")
	r.int(&t.Stage2Epochs, "stage2-epochs", "`epochs` of stage 2")
	r.int(&t.MaxSteps, "max-steps", "end each stage after so many `steps`, 0 for no limit")
	r.value(batchFlag{&t.BatchBags}, &t.BatchBags, "batch-size", "`pictures` of a batch without MIL, or auto: as many as "+
		"make steps fast and fit in memory")
	r.value(batchFlag{&t.BatchBagsMIL}, &t.BatchBagsMIL, "batch-size-mil", "`pictures` of a batch with MIL, or videos, "+
		"or auto")
	r.int(&t.Accumulate, "accumulate", "`batches` whose gradients make one step")
	r.int(&t.ChunkFrames, "chunk-frames", "`frames` that go through the net together, 0 for whole batches: less "+
		"memory, more time, the same gradients")
	r.bool(&t.Overfit, "overfit-one-batch", "train on the first batch at every step, to see that the net can learn "+
		"it by heart")
	r.bool(&t.Flip, "flip", "mirror half of the pictures")
	augmentFlags(cmd, &t.Augment)
	lossFlags(cmd, &t.Loss)
	optimizerFlags(cmd, t)
	noiseModelFlags(cmd, c)
	recipeFlags(cmd, c)
	savingFlags(cmd, t)
	under(cmd, "Checkpoints and log").bool(&c.EachEpoch, "each-epoch", "evaluate after every epoch as at the end, "+
		"and keep the figures in "+run.EpochsFile+"; learns nothing else")
}

func optimizerFlags(cmd *cobra.Command, t *train.Config) {
	r := under(cmd, "Optimizer")
	enum(r, &t.Optimizer, "optimizer", "`kind`", train.Optimizers()...)
	r.float(&t.LearningRate, "learning-rate", "`rate` for a loss summed over classes and averaged over pictures")
	enum(r, &t.Schedule, "schedule", "of the learning rate", train.Constant, train.StepDown, train.Cosine)
	r.int(&t.WarmupSteps, "warmup-steps", "`steps` of linear rise to the learning rate")
	r.int(&t.StepEvery, "step-every", "schedule step: `steps` between drops")
	r.float(&t.StepFactor, "step-factor", "schedule step: `factor` of a drop")
	r.float(&t.CosineFloor, "cosine-floor", "schedule cosine: `share` of the rate at the end")
	r.float(&t.Momentum, "momentum", "`momentum` of sgd")
	r.float(&t.Beta1, "beta1", "`decay` of the first moment of adam and adamw")
	r.float(&t.Beta2, "beta2", "`decay` of the second moment of adam and adamw")
	r.float(&t.Epsilon, "epsilon", "`term` of adam and adamw beside the root")
	r.float(&t.WeightDecay, "weight-decay", "`factor` of the L2 penalty, or of the decoupled decay of adamw")
	r.bool(&t.DecayBiases, "decay-biases", "apply weight decay to biases too")
	r.float(&t.ClipNorm, "clip-norm", "limit on the `norm` of the gradient, 0 for none")
	r.float(&t.EMA, "ema", "`decay` of a moving average of the weights, such as 0.999, which is validated and kept as the "+
		"model; 0 for none")
	r.float(&t.LayerDecay, "layer-decay", "`factor` of the learning rate from each layer to the one below it, such as "+
		"0.8, from the last layer on; 0 for none")
	r.value(rulesFlag{&t.LearningRates}, &t.LearningRates, "multipliers",
		"learning-rate multipliers of parameters, as "+
			"`pattern=factor,...`, for example head.fc8.*=10")
	r.strings(&t.Freeze, "freeze", "parameters that do not learn, as `pattern,...`, for example backbone.conv[12]_*")
	enum(r, &t.ClassifierStart, "classifier-start", "`bias` of the last layer at the "+
		"start", train.BaseRate, train.LabelMeans)
	r.float(&t.BaseRateLogit, "base-rate-logit", "that bias in `log-odds`, for base-rate")
	r.float(&t.ClassifierDeviation, "classifier-deviation", "standard `deviation` of the last layer's weights at "+
		"the start")
}

func savingFlags(cmd *cobra.Command, t *train.Config) {
	r := under(cmd, "Checkpoints and log")
	r.int(&t.LogSteps, "log-interval", "`steps` between log lines")
	r.int(&t.EvaluateEpochs, "evaluate-epochs", "`epochs` between validations, 0 for never")
	r.int(&t.EvaluateSteps, "evaluate-steps", "`steps` between validations, 0 for never")
	r.int(&t.CheckpointEpochs, "checkpoint-epochs", "`epochs` between checkpoints, 0 for never")
	r.int(&t.CheckpointSteps, "checkpoint-steps", "`steps` between checkpoints, 0 for never")
	r.float(&t.CheckpointMinutes, "checkpoint-minutes",
		"most `minutes` between checkpoints, within an epoch too, 0 for no limit")
	r.int(&t.KeepBest, "keep-best", "best `checkpoints` kept beside the last")
	enum(r, &t.BestBy, "best-by", "validation `measure` that tells the best", train.Measures()...)
	r.int(&t.Patience, "patience", "end a stage after so many `validations` without a new best, and go back to the "+
		"best; 0 for never")
}

// bothEpochs is --epochs.
type bothEpochs struct{ config *train.Config }

func (b bothEpochs) String() string {
	if b.config == nil || b.config.Stage1Epochs != b.config.Stage2Epochs {
		return ""
	}
	return strconv.Itoa(b.config.Stage1Epochs)
}

func (b bothEpochs) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return fmt.Errorf("want a whole number of at least 0")
	}
	b.config.Stage1Epochs, b.config.Stage2Epochs = n, n
	return nil
}

func (b bothEpochs) Type() string { return "int" }

// batchFlag is --batch-size: a number, or auto.
type batchFlag struct{ target *int }

func (b batchFlag) String() string {
	switch {
	case b.target == nil:
		return ""
	case *b.target == train.AutoBatch:
		return "auto"
	}
	return strconv.Itoa(*b.target)
}

func (b batchFlag) Set(s string) error {
	if s == "auto" {
		*b.target = train.AutoBatch
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return fmt.Errorf("want a whole number of at least 1, or auto")
	}
	*b.target = n
	return nil
}

func (b batchFlag) Type() string { return "int" }

// rulesFlag is --multipliers.
type rulesFlag struct{ target *[]train.Rule }

func (r rulesFlag) String() string {
	if r.target == nil {
		return ""
	}
	return train.FormatRules(*r.target)
}

func (r rulesFlag) Set(s string) error {
	rules, err := train.ParseRules(s)
	if err == nil {
		*r.target = rules
	}
	return err
}

func (r rulesFlag) Type() string { return "rules" }
