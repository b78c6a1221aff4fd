package recipe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/text"
	"nmn/train"
)

// Form says how stage 2 comes by its noise model.
type Form string

// The forms of the recipe.
const (
	Paper    Form = "paper"    // it starts somewhere and is learned with the net
	Estimate Form = "estimate" // rates estimated from scores of nets that have not seen the bag, then held
)

// CaptionsForm says what captions are to the recipe.
type CaptionsForm string

// What captions can be.
const (
	Witness CaptionsForm = "witness" // captions count by the probability that they are right: the arm caption-filter
	Labels  CaptionsForm = "labels"  // where labels come from, and nothing more
)

// Config is the recipe of the noise model.
type Config struct {
	// Form is filled in when a configuration is resolved, so that a file keeps its meaning when the default changes.
	Form Form `yaml:"form,omitempty" help:"where stage 2 gets noise rates: estimate (from held-out scores, then fixed) or paper (learned)" values:"estimate,paper"`
	// Captions chooses the arm if the user names none and the labels come from captions; empty is Labels.
	Captions CaptionsForm `yaml:"captions,omitempty" help:"how captions are used: witness weights each by whether it is right, labels counts all" values:"witness,labels"`
	// FoldEpochs is how many epochs the nets of folds are trained for, 0 for 15.
	FoldEpochs int `yaml:"fold_epochs,omitempty" help:"train the nets of folds for this many <epochs>; 0 for 15" range:"[0,]"`
	// Epochs of stage 2 of the arms caption-filter, held-rates and soft-labels, 0 for those that the recipe finds.
	Epochs int `yaml:"epochs,omitempty" help:"<epochs> of stage 2 of caption-filter, held-rates and soft-labels; 0 for each arm's own" range:"[0,]"`
	// Floor raises the rates as far as the labels let them, and gives the net's prediction half the weight
	// of the label in soft-labels: for noise that depends on the sample.
	Floor bool `yaml:"floor,omitempty" help:"raise the rates as far as the labels allow, for noise that depends on the picture"`
	// Start has noise models that learn their rates, and EM, start at the estimate.
	Start bool `yaml:"start,omitempty" help:"start nmn-fi, nmn-fd and em at the estimated rates, and learn from there"`
}

// Where rates come from, as the setting rates has it; anything else is a file.
const (
	Online  = "online"
	FoldsOf = "folds:"
)

// DefaultFolds is the number of folds if none is given.
const (
	DefaultFolds      = 5
	defaultFoldEpochs = 15
	softEpochs        = 3 // of soft-labels: more memorise what is left of the noise in the targets
)

func (r Config) foldEpochs() int { return cmp.Or(r.FoldEpochs, defaultFoldEpochs) }

// Settings are what a recipe and the arms that it plans depend on.
type Settings struct {
	Arm        Name
	MIL        bool
	Stage1     string // checkpoint that stage 2 starts from, where stage 1 is not trained
	NoiseRates string // Online, FoldsOf with their number, a file, or empty
	Recipe     Config
	Train      train.Config
	Exclusive  bool // set if classes exclude each other
	ByFrame    bool // set if nets learn the frames of videos one by one, and score whole videos
}

// EstimateFile is the file of a recipe's folder with the estimate.
func (s Settings) EstimateFile() string {
	if s.Exclusive {
		return TransitionFile
	}
	return RatesFile
}

// ExclusiveArms are the arms that train classes that exclude each other.
func ExclusiveArms() (names []Name) {
	for _, a := range Arms() {
		if a.Exclusive {
			names = append(names, a.Name)
		}
	}
	return names
}

// ValidateExclusive refuses settings that do not go with classes that exclude each other.
func (s Settings) ValidateExclusive() error {
	arm, _ := s.Arm.Arm()
	switch {
	case !arm.Exclusive:
		return setting.Errorf("arm", "arm %s is for classes that do not exclude each other, and each row has one label: "+
			"give `arm` %s, or `data.classes` multi", s.Arm, setting.Alternatives(ExclusiveArms()))
	case s.MIL:
		return setting.Errorf("net.mil", "`net.mil` is for classes that do not exclude each other, and each row has one "+
			"label: leave out `net.mil`, or give `data.classes` multi")
	case s.RatesFile() != "":
		return setting.Errorf("noise_rates", "`noise_rates` is a file of a pair of rates for each class, and classes that "+
			"exclude each other have a matrix: give online or folds:5, or `data.classes` multi")
	case s.Recipe.Floor:
		return setting.Errorf("recipe.floor", "`recipe.floor` raises a pair of rates for each class, and classes that "+
			"exclude each other have a matrix: leave out `recipe.floor`, or give `data.classes` multi")
	case !s.Train.Loss.IsZero():
		return setting.Errorf("train.loss.kind", "loss %s is for classes that do not exclude each other: leave out "+
			"`train.loss`, or give `data.classes` multi", s.Train.Loss.Name())
	}
	return nil
}

// Estimates reports whether the rates are estimated and held, as opposed to the paper's plain form.
func (s Settings) Estimates() bool {
	return s.Recipe.Form == Estimate
}

// Folds is the number of folds that rates come from, 0 where they come from elsewhere.
func (s Settings) Folds() int {
	number, ok := strings.CutPrefix(s.NoiseRates, FoldsOf)
	if !ok || !s.Estimates() {
		return 0
	}
	n, _ := strconv.Atoi(number) // validated
	return n
}

// FromTraining reports whether rates come from training itself, not from a file.
func (s Settings) FromTraining() bool {
	return s.NoiseRates == "" || s.NoiseRates == Online || strings.HasPrefix(s.NoiseRates, FoldsOf)
}

// RatesFile is the file that rates are taken from, empty for none.
func (s Settings) RatesFile() string {
	if s.FromTraining() {
		return ""
	}
	return s.NoiseRates
}

// NeedsEstimate reports whether an arm cannot be without estimated rates.
func (s Settings) NeedsEstimate(a Name) bool {
	arm, _ := a.Arm()
	return arm.Folds || arm.NoiseRates && s.RatesFile() == "" || arm.Learned && s.Recipe.Start
}

// Validate refuses settings that do not go with each other or with the arm.
func (s Settings) Validate() error {
	r := s.Recipe
	switch {
	case r.Captions == Labels && s.Arm == CaptionFilter:
		return setting.Errorf("recipe.captions",
			"`recipe.captions` is labels, and arm %s judges captions: leave it out, or give `arm` held-rates", s.Arm)
	case r.Floor && (!s.Estimates() || !s.FromTraining()):
		return errors.New("recipe.floor raises rates that are estimated, with `recipe.form` estimate and no file of rates")
	case r.Start && (!s.Estimates() || !s.FromTraining()):
		return errors.New("recipe.start starts at rates that are estimated, with `recipe.form` estimate and no file of rates")
	case !s.Estimates() && (s.Arm == CaptionFilter || s.Arm == HeldRates || s.Arm == SoftLabels):
		return fmt.Errorf("arm is %s, which belongs to `recipe.form` estimate", s.Arm)
	case s.Arm == Forward && !s.Estimates() && s.RatesFile() == "":
		return errors.New(
			"arm forward learns through rates that are known before: give `recipe.form` estimate, or `noise_rates` FILE")
	case s.Arm == Pruned && s.Folds() == 0:
		return errors.New(
			"arm pruned leaves out the labels that nets of folds find wrong: give `recipe.form` estimate `noise_rates` folds:5")
	case s.Arm == EM && (s.Train.MaxSteps > 0 || s.Train.Overfit || s.Train.Stage2Epochs < 1):
		return errors.New("arm em renews the posteriors of the labels after every epoch of stage 2: give " +
			"`train.stage2_epochs` of at least 1, and leave out `train.max_steps` and `train.overfit`")
	case !s.Estimates() && s.NoiseRates != "" && s.FromTraining():
		return fmt.Errorf("rates are %s, which belongs to `recipe.form` estimate", s.NoiseRates)
	case !s.Estimates():
		return nil
	}
	return s.validateEstimate()
}

func (s Settings) validateEstimate() error {
	number, folds := strings.CutPrefix(s.NoiseRates, FoldsOf)
	if n, err := strconv.Atoi(number); folds && (err != nil || n < 2 || n > 1000) {
		return fmt.Errorf("rates are %q, want folds:N with 2 to 1000 folds", s.NoiseRates)
	}
	switch {
	case !folds && s.Arm == SoftLabels:
		return fmt.Errorf("arm soft-labels learns from the nets of folds, and rates are %s: give `noise_rates` folds:5, or "+
			"`arm` held-rates", s.NoiseRates)
	case !s.FromTraining():
		return nil
	case s.Train.MaxSteps > 0:
		return errors.New("train.max_steps ends stages within epochs, which rates are estimated at the end of: leave out " +
			"`train.max_steps`")
	case s.Stage1 != "":
		return errors.New("stage1 names a checkpoint, and rates are estimated while stage 1 is trained: leave out " +
			"`stage1`, or name a file of rates")
	case s.Train.Overfit:
		return errors.New("overfit-one-batch teaches nothing about other samples: leave out `recipe.form`")
	}
	return nil
}

// ValidateEvidence refuses settings that do not go with evidence in place of labels.
func (s Settings) ValidateEvidence() error {
	e, _ := s.Arm.Arm()
	switch {
	case s.Estimates():
		return setting.Errorf("recipe.form", "recipe.form %s estimates how far labels are to be trusted, which "+
			"`data.evidence` says itself: leave out one of the two", s.Recipe.Form)
	case e.Noise != model.NoNoise:
		return setting.Errorf("arm", "arm %s has a noise model, and `data.evidence` says itself how far labels are to be "+
			"trusted: give `arm` baseline or `arm` stage1, or leave out `data.evidence`", s.Arm)
	case e.Loss != "" || e.Taught || e.Folds:
		return setting.Errorf("arm", "arm %s does not learn what `data.evidence` would take the place of: give `arm` "+
			"baseline or `arm` stage1, or leave out `data.evidence`", s.Arm)
	case !s.Train.Loss.IsZero():
		return setting.Errorf("train.loss.kind", "loss %s needs labels, and `data.evidence` has a loss of its own: leave "+
			"one of them out", s.Train.Loss.Name())
	}
	return nil
}

// Inestimable says why rates cannot be estimated on these data; empty where they can.
func (s Settings) Inestimable(d *dataset.Splits) string {
	n, batch := d.Train.Len(), s.Train.Batch(s.MIL)
	learned := n
	if s.ByFrame {
		learned = d.Train.AllFrames()
	}
	switch {
	case s.NoiseRates == Online && n == 1:
		return fmt.Sprintf("rates cannot be estimated from 1 %s", d.Train.Noun().One())
	case s.NoiseRates == Online && learned <= batch:
		return fmt.Sprintf("%s are one batch of %d, and rates are estimated from the second half of the batches of an "+
			"epoch: lower the batch size", d.Train.Noun().Count(n), batch)
	case s.Folds() > 0 && d.Train.Rows != nil:
		return "folds need all labels in memory: raise `run.label_memory`, or give `noise_rates` online"
	case s.Folds() > n:
		return fmt.Sprintf("%d %s cannot be dealt to %s: give `noise_rates` folds:N with a smaller N", n,
			d.Train.Noun(), text.Count(s.Folds(), "folds"))
	}
	return ""
}

// Fits refuses data that lack what an arm needs, before anything is trained.
func (s Settings) Fits(d *dataset.Splits) error {
	if d.Evidence != nil {
		if err := s.ValidateEvidence(); err != nil {
			return err
		}
	}
	why := s.Inestimable(d)
	e, _ := s.Arm.Arm()
	switch {
	case s.NeedsEstimate(s.Arm) && why != "":
		return setting.Errorf("arm", "arm %s needs rates that are estimated: %s", s.Arm, why)
	case e.Taught && !d.Train.KnowsTruth():
		return setting.Errorf("arm", "arm %s needs the true labels of the training set, which %s does not have: inject "+
			"noise (`data.noise`, `data.flips`), give `data.features.train.truth`, or leave the arm out", s.Arm, d.Train.Name)
	case e.Captions && d.Train.CaptionsInUse == nil:
		return setting.Errorf("arm", "arm %s judges captions, and the labels of %s do not come from captions in memory: "+
			"give captions without flipped labels (raise `run.label_memory` for a large set), or `arm` held-rates", s.Arm,
			d.Train.Name)
	case s.Arm == EM && d.Train.HasUnknown():
		return setting.Errorf("arm", "arm em needs every label, and %s has unknown labels: give `arm` soft-labels, "+
			"held-rates or baseline", d.Train.Name)
	case s.Arm == EM && d.Train.Rows != nil:
		return setting.Errorf("arm", "arm em needs all labels in memory: raise `run.label_memory`, or leave the arm out")
	case s.Arm == BaselineEarly && d.Validation == nil && s.Folds() == 0:
		return setting.Errorf("arm", "arm baseline-early ends by labels that are held out: give a validation set, or "+
			"`recipe.form` estimate `noise_rates` folds:5")
	}
	return nil
}

// rounds is how often the nets of folds are trained for these arms.
func (s Settings) rounds(arms []Name) int {
	if s.Folds() == 0 {
		return 0
	}
	for _, a := range arms {
		if arm, _ := a.Arm(); arm.Folds || a == HeldRates && s.Recipe.Epochs == 0 {
			return 2
		}
	}
	return 1
}

// ExtraEpochs is what a recipe trains in addition to its arms, in epochs of stage 1 on all bags: the nets of
// folds, the stage 1 of caption-filter that goes on with what captions say, and the nets that judge the captions in use
// if most bags have few. captions is nil if they are not known.
func (s Settings) ExtraEpochs(arms []Name, captions [][][]int32) int {
	if !s.Estimates() {
		return 0
	}
	extra := s.rounds(arms) * (s.Folds() - 1) * s.Recipe.foldEpochs()
	if slices.Contains(arms, CaptionFilter) {
		extra += s.Train.Stage1Epochs
		if fewCaptions(captions) {
			extra += s.outOfFoldEpochs()
		}
	}
	return max(extra, 0)
}

// outOfFoldEpochs is what the nets that judge captions of bags with few train at most, in epochs of stage 1 on all
// bags.
func (s Settings) outOfFoldEpochs() int {
	if s.Folds() == 0 {
		return (halves - 1) * s.Train.Stage1Epochs
	}
	return (s.Folds() - 1) * s.Recipe.foldEpochs()
}

// Cost says how much longer the recipe makes training, for these arms; empty where it does nothing.
func (s Settings) Cost(arms []Name, captions [][][]int32) string {
	again := ""
	if slices.Contains(arms, CaptionFilter) {
		again = "; with arm caption-filter, stage 1 takes as many epochs again, with what the captions say"
		if fewCaptions(captions) {
			again += ", and the nets that judge the few captions take the time of " + text.Count(s.outOfFoldEpochs(), "epochs")
		}
	}
	switch {
	case s.Estimates() && s.NoiseRates == Online:
		rates := "noise rates come from the first epoch of stage 1, which scores each picture before it is learned"
		if again == "" {
			rates += ", without an extra epoch"
		}
		return rates + again
	case s.Folds() == 0:
		return ""
	}
	return fmt.Sprintf("%s, trained %d × for %s on the other folds%s: the time of %s of stage 1 more",
		text.Count(s.Folds(), "folds"), s.rounds(arms), text.Count(s.Recipe.foldEpochs(), "epochs"), again,
		text.Count(s.ExtraEpochs(arms, captions), "epochs"))
}
