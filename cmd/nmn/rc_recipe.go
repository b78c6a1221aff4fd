package main

import (
	"context"
	"log/slog"

	"nmn/labels/rates"
	"nmn/loader"
	"nmn/train"

	dense "gorgonia.org/tensor"
)

// recipe estimates noise rates from scores of nets that have not seen the bag, and tells how the arms of
// one group are then trained: one noise level, seed and setting of MIL. What it finds is the same for all
// of them, and is found when the first of them needs it.
type recipe struct {
	settings recipeSettings // of stage 1
	data     *dataSets      // of the group
	trainer  netTrainer
	dir      string
	log      *slog.Logger
	message  func(topic, text string) // for people

	plain, noisy *round      // trained without and with the noise model; nil before
	scored       *loader.Set // the bags that plain is of: all that are learned, or with online scores some
	found        *rates.Result
	floor        rates.Floor // that they were raised to; zero for none
}

// recipeOptions are what a recipe needs.
type recipeOptions struct {
	settings recipeSettings
	data     *dataSets // those that the arms of the group learn
	dir      string    // folder of the recipe
	trainer  netTrainer
	log      *slog.Logger
	message  func(topic, text string) // takes what people should know; nil for nobody
}

// newRecipe makes the recipe of a group of arms; nil for the paper's plain form, which has none.
func newRecipe(o recipeOptions) *recipe {
	if !o.settings.estimates() {
		return nil
	}
	o.settings.Arm = armStage1
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	if o.message == nil {
		o.message = func(string, string) {}
	}
	return &recipe{settings: o.settings, data: o.data, scored: o.data.train, dir: o.dir, trainer: o.trainer, log: o.log, message: o.message}
}

// netTrainer trains the nets that a recipe asks for. Package run implements it: a recipe knows nothing of devices,
// records and checkpoints of a run folder.
type netTrainer interface {
	// prepare makes the folder of a recipe, or takes the one that the same run has left.
	prepare(dir string) error
	// trainNet trains a net to its end, or goes on where it was interrupted.
	trainNet(context.Context, netTraining) error
	// score computes the logits of p(y=1) by the last checkpoint in a folder, N×K in the order of the set. It fails
	// where a bag cannot be read.
	score(ctx context.Context, dir string, set *loader.Set) ([]float32, error)
}

// netTraining is a net that a recipe wants to be trained.
type netTraining struct {
	title   string // for people
	dir     string // that it is trained in
	from    string // checkpoint that stage 2 starts from
	arm     train.Arm
	config  train.Config
	data    *dataSets    // with what is evaluated after each epoch as the validation split
	targets *dense.Dense // in place of the labels; nil for these
	// evaluated takes each evaluation, before the checkpoint that is behind it; nil for nobody.
	evaluated func(*train.Evaluated) error
}
