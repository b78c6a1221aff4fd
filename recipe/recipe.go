package recipe

import (
	"cmp"
	"context"
	"log/slog"

	dense "gorgonia.org/tensor"

	"nmn/internal/durable"
	"nmn/labels/audit/multiclass"
	"nmn/labels/rates"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/train"
)

// Recipe estimates noise rates from scores of nets that have not seen the bag, and plans how the arms of one
// group are then trained. A group has one noise level, seed and setting of MIL. The estimate is the same for
// all arms of the group, and is computed when the first of them needs it.
type Recipe struct {
	Options // with the settings of stage 1; no function is nil

	plain, noisy *round      // trained without and with the noise model; nil before
	scored       *loader.Set // the bags that plain scores: all training bags, or with online scores some of them
	found        *rates.Result
	floor        rates.Floor        // that they were raised to; zero for none
	classes      *multiclass.Report // in place of found, of classes that exclude each other
	judged       *witnessed         // of the captions; nil before
}

// Options are what a recipe needs.
type Options struct {
	Settings Settings
	Data     *dataset.Splits // those that the arms of the group learn
	Dir      string          // folder of the recipe
	Trainer  Trainer
	Log      *slog.Logger
	Message  func(topic, text string) // takes messages for the user; may be nil
	// Save calls write, which writes whole files of the recipe and may be called again: of several ranks, one does. Nil
	// calls it here, and again after a moment if the disk is full.
	Save func(ctx context.Context, write func() error) error
	// Alike lists groups of training bags that are near-duplicates, by their places, none of more than most bags. Each
	// stays in one fold. It is called before bags are dealt to folds, and not when the folder has a plan; nil for no
	// groups.
	Alike func(ctx context.Context, most int) ([][]int, error)
}

// New makes the recipe of a group of arms; nil for the paper's plain form, which has none.
func New(o Options) *Recipe {
	if !o.Settings.Estimates() {
		return nil
	}
	o.Settings.Arm = Stage1
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Message == nil {
		o.Message = func(string, string) {}
	}
	if o.Save == nil {
		o.Save = func(ctx context.Context, write func() error) error {
			return durable.Patiently(ctx, durable.WarnFull(o.Log), write)
		}
	}
	if o.Alike == nil {
		o.Alike = func(context.Context, int) ([][]int, error) { return nil, nil }
	}
	return &Recipe{Options: o, scored: o.Data.Train}
}

// Trainer trains the nets that a recipe asks for. Package run implements it, so that a recipe does not depend
// on devices, records and checkpoints of a run folder.
type Trainer interface {
	// Prepare makes the folder of a recipe, or takes the one that the same run has left.
	Prepare(ctx context.Context, dir string) error
	// TrainNet trains a net to its end, or goes on where it was interrupted.
	TrainNet(context.Context, Training) error
	// Score computes the logits of p(y=1) by the last checkpoint in a folder, N×K in the order of the set. It fails
	// where a bag cannot be read.
	Score(ctx context.Context, dir string, set *loader.Set) ([]float32, error)
}

// Training is a net that a recipe wants to be trained.
type Training struct {
	Title   string // for people
	Dir     string // that it is trained in
	From    string // checkpoint that stage 2 starts from
	Arm     train.Arm
	Config  train.Config
	Data    *dataset.Splits // with what is evaluated after each epoch as the validation split
	Targets *dense.Dense    // in place of the labels; nil for these
	// Evidence is learned in place of labels and targets: log-likelihood ratios of what was observed; nil for none.
	Evidence *dense.Dense
	Online   func(context.Context, *train.Scores) error // takes the scores of the first epoch; may be nil
	// Evaluated takes each evaluation, before the checkpoint of its epoch is written; may be nil.
	Evaluated func(*train.Evaluated) error
}
