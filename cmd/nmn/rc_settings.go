package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nmn/internal/setting"
	"nmn/train"
)

// recipeForm says how stage 2 comes by its noise model.
type recipeForm string

const (
	recipePaper    recipeForm = "paper"    // it starts somewhere and is learned with the net
	recipeEstimate recipeForm = "estimate" // rates estimated from scores of nets that have not seen the bag, then held
	// recipeCrossFit is what recipeEstimate was called before; configurations may still say so.
	recipeCrossFit recipeForm = "crossfit"
)

// recipeConfig is the recipe of the noise model.
type recipeConfig struct {
	// Form is empty until a configuration is resolved; then it is said, for the default may change.
	Form recipeForm `yaml:"form,omitempty"`
	// FoldEpochs is how long the nets of folds are trained, 0 for 15.
	FoldEpochs int `yaml:"fold_epochs,omitempty"`
	// Epochs of stage 2 of the arms r-n and r-s, 0 for those that the recipe finds.
	Epochs int `yaml:"epochs,omitempty"`
	// Floor raises the rates as far as the labels let them, and has r-s believe the net half as much as
	// the label: for noise that depends on the sample.
	Floor bool `yaml:"floor,omitempty"`
}

// Where rates come from, as the setting rates has it; anything else is a file.
const (
	ratesOnline = "online"
	ratesFolds  = "folds:"
)

const (
	defaultFolds      = 5
	defaultFoldEpochs = 15
	softEpochs        = 3 // of r-s: more memorise what is left of the noise in the targets
)

func (r recipeConfig) foldEpochs() int {
	if r.FoldEpochs == 0 {
		return defaultFoldEpochs
	}
	return r.FoldEpochs
}

// recipeSettings are what a recipe and the arms that it plans depend on.
type recipeSettings struct {
	Arm    armName
	MIL    bool
	Stage1 string // checkpoint that stage 2 starts from, where stage 1 is not trained
	Rates  string // ratesOnline, ratesFolds with their number, a file, or empty
	Recipe recipeConfig
	Train  train.Config
}

// estimates reports whether the rates are estimated and held, as opposed to the paper's plain form.
func (s *recipeSettings) estimates() bool {
	return s.Recipe.Form == recipeEstimate || s.Recipe.Form == recipeCrossFit
}

// folds is their number, 0 where the rates do not come from folds.
func (s *recipeSettings) folds() int {
	number, ok := strings.CutPrefix(s.Rates, ratesFolds)
	if !ok || !s.estimates() {
		return 0
	}
	n, _ := strconv.Atoi(number) // validated
	return n
}

// fromTraining reports whether rates come from training itself, not from a file.
func (s *recipeSettings) fromTraining() bool {
	return s.Rates == "" || s.Rates == ratesOnline || strings.HasPrefix(s.Rates, ratesFolds)
}

// ratesFile is the file that rates are taken from, empty for none.
func (s *recipeSettings) ratesFile() string {
	if s.fromTraining() {
		return ""
	}
	return s.Rates
}

// needsEstimate reports whether an arm cannot be without estimated rates.
func (s *recipeSettings) needsEstimate(a armName) bool {
	return (a == armRN || a == armForward) && s.ratesFile() == "" || a == armRS || a == armPruned
}

func (s *recipeSettings) validate() error {
	r := s.Recipe
	switch {
	case r.Form != recipePaper && !s.estimates():
		return setting.Errorf("recipe.form", "recipe.form is %q, want paper or estimate", r.Form)
	case r.FoldEpochs < 0 || r.FoldEpochs > 1000 || r.Epochs < 0 || r.Epochs > 1<<20:
		return fmt.Errorf("recipe.fold_epochs is %d and recipe.epochs %d, want 0 to 1000 and at least 0", r.FoldEpochs, r.Epochs)
	case r.Floor && (!s.estimates() || !s.fromTraining()):
		return errors.New("recipe.floor raises rates that are estimated, with --nmn-recipe estimate and no file of rates")
	case !s.estimates() && (s.Arm == armRN || s.Arm == armRS):
		return fmt.Errorf("arm is %s, which belongs to --nmn-recipe estimate", s.Arm)
	case s.Arm == armForward && !s.estimates() && s.ratesFile() == "":
		return errors.New("arm forward learns through rates that are known before: give --nmn-recipe estimate, or --rates FILE")
	case s.Arm == armPruned && s.folds() == 0:
		return errors.New("arm pruned leaves out what nets of folds believe wrong: give --nmn-recipe estimate --rates folds:5")
	case s.Arm == armEM && (s.Train.MaxSteps > 0 || s.Train.Overfit || s.Train.Stage2Epochs < 1):
		return errors.New("arm em renews what it believes of the labels after every epoch of stage 2: give --stage2-epochs of at least 1, and leave out --max-steps and --overfit-one-batch")
	case !s.estimates() && s.Rates != "" && s.fromTraining():
		return fmt.Errorf("rates are %s, which belongs to --nmn-recipe estimate", s.Rates)
	case !s.estimates():
		return nil
	}
	return s.validateEstimate()
}

func (s *recipeSettings) validateEstimate() error {
	number, folds := strings.CutPrefix(s.Rates, ratesFolds)
	if n, err := strconv.Atoi(number); folds && (err != nil || n < 2 || n > 1000) {
		return fmt.Errorf("rates are %q, want folds:N with 2 to 1000 folds", s.Rates)
	}
	switch {
	case !folds && s.Arm == armRS:
		return fmt.Errorf("arm r-s learns from the nets of folds, and rates are %s: give --rates folds:5, or --arm r-n", s.Rates)
	case !s.fromTraining():
		return nil
	case s.Train.MaxSteps > 0:
		return errors.New("train.max_steps ends stages within epochs, which rates are estimated at the end of: leave out --max-steps")
	case s.Stage1 != "":
		return errors.New("stage1 names a checkpoint, and rates are estimated while stage 1 is trained: leave out --stage1, or name a file of rates")
	case s.Train.Overfit:
		return errors.New("overfit-one-batch teaches nothing about other bags: leave out --nmn-recipe")
	}
	return nil
}

// inestimable says why rates cannot be estimated on these data; empty where they can.
func (s *recipeSettings) inestimable(d *dataSets) string {
	n, batch := d.train.Len(), s.Train.Batch(s.MIL)
	switch {
	case s.Rates == ratesOnline && !d.train.Videos() && n <= batch:
		return fmt.Sprintf("%d bags are one batch of %d, and rates are told from the second half of the batches of an epoch: lower the batch size", n, batch)
	case s.folds() > 0 && d.train.Rows != nil:
		return "folds need all labels in memory: raise --label-memory, or give --rates online"
	case s.folds() > n:
		return fmt.Sprintf("%d bags cannot be dealt to %d folds: give --rates folds:N with a smaller N", n, s.folds())
	}
	return ""
}

// fits refuses data that lack what an arm needs, before anything is trained.
func (s *recipeSettings) fits(d *dataSets) error {
	why := s.inestimable(d)
	e, _ := s.Arm.entry()
	switch {
	case s.needsEstimate(s.Arm) && why != "":
		return setting.Errorf("arm", "arm %s needs rates that are estimated: %s", s.Arm, why)
	case e.taught && !d.train.KnowsTruth():
		return setting.Errorf("arm", "arm %s needs the true labels of the training set, which %s does not tell: inject noise (--noise, --flips), give --truth, or leave the arm out", s.Arm, d.train.Name)
	case s.Arm == armEM && d.train.Rows != nil:
		return setting.Errorf("arm", "arm em needs all labels in memory: raise --label-memory, or leave the arm out")
	case s.Arm == armStarEarly && d.validation == nil && s.folds() == 0:
		return setting.Errorf("arm", "arm star-early ends by labels that are held out: give a validation set, or --nmn-recipe estimate --rates folds:5")
	}
	return nil
}

// rounds is how often the nets of folds are trained for these arms.
func (s *recipeSettings) rounds(arms []armName) int {
	if s.folds() == 0 {
		return 0
	}
	for _, a := range arms {
		if a == armRS || a == armPruned || a == armRN && s.Recipe.Epochs == 0 {
			return 2
		}
	}
	return 1
}

// extraEpochs is what the folds of a group cost, in epochs of stage 1 on all bags.
func (s *recipeSettings) extraEpochs(arms []armName) int {
	return s.rounds(arms) * (s.folds() - 1) * s.Recipe.foldEpochs()
}

// cost says how much longer the recipe makes training, for these arms; empty where it does nothing.
func (s *recipeSettings) cost(arms []armName) string {
	switch {
	case s.estimates() && s.Rates == ratesOnline:
		return "rates from scores of the first epoch of stage 1, each from before its bag was learned: no epoch more"
	case s.folds() == 0:
		return ""
	}
	return fmt.Sprintf("%d folds, trained %d × for %d epochs on the other folds: the time of %d epochs of stage 1 more",
		s.folds(), s.rounds(arms), s.Recipe.foldEpochs(), s.extraEpochs(arms))
}
