package runaudit

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
)

// Offer is a number of folds, whose nets score every training bag, and the cost of training them.
type Offer struct {
	Folds, Epochs int
	Images        int64         // frames or rows that are learned, all nets and epochs together
	Time          time.Duration // at the speed of the run, 0 if its log does not show it
}

// Epochs of nets of folds by default: as many as stage 1 of the run, but no more than the recipe trains.
const mostFoldEpochs = 15

// Offer returns the cost of a number of folds. epochs is the number of epochs of each net; 0 takes as many as
// stage 1 of the run, at most 15, and 15 on features.
func (a *Audit) Offer(folds, epochs int) Offer {
	c := &a.session.Config
	if epochs == 0 {
		epochs = min(max(c.Train.Stage1Epochs, 1), mostFoldEpochs)
		if c.OnFeatures() {
			epochs = mostFoldEpochs
		}
		epochs = cmp.Or(c.Recipe.FoldEpochs, epochs)
	}
	o := Offer{Folds: folds, Epochs: epochs}
	bags := int64(a.session.Data.Train.AllFrames())
	o.Images = bags * int64(folds-1) * int64(epochs)
	if speed := a.speed(); speed > 0 {
		// what is held out is scored after each epoch, about a third of the work of learning it
		seen := float64(o.Images) + float64(bags*int64(epochs))/3
		o.Time = time.Duration(seen / speed * float64(time.Second))
	}
	return o
}

// DefaultFolds are those to offer first: features cost little, and two folds are enough for rates.
func (a *Audit) DefaultFolds() int {
	if !a.session.Config.OnFeatures() {
		return 2
	}
	return recipe.DefaultFolds
}

// speed is the number of images a second that stage 1 of the run has learned, from its log; 0 if the log does
// not show it.
func (a *Audit) speed() float64 {
	for _, folder := range []string{run.Stage1Folder, ""} {
		if v := run.LogSpeed(filepath.Join(a.Dir, folder)); v > 0 {
			return v
		}
	}
	return 0
}

// TrainFolds trains the nets of an offer, or continues after an interruption, and keeps their scores in the
// folder of the audit, where Scores finds them. Complete nets are not trained again. When ctx ends, finished
// work is saved, and the error wraps ErrInterrupted.
func (a *Audit) TrainFolds(ctx context.Context, o Offer) (*OutOfFold, error) {
	there, err := a.foldsOfRun()
	if there == nil || o.Folds != a.folds() {
		if err == nil {
			there, err = a.trained(o.Folds)
		}
	}
	if err != nil || there != nil {
		return there, err
	}
	settings, err := a.foldSettings(o)
	if err != nil {
		return nil, err
	}
	s := *a.session
	s.Config.Arm, s.Config.Recipe, s.Config.NoiseRates = recipe.Stage1, settings.Recipe, settings.NoiseRates
	s.Config.Stage1, s.Config.Train, s.Config.EachEpoch = "", settings.Train, false
	if err := s.Standardise(ctx); err != nil {
		return nil, err
	}
	dir := a.foldsFolder(o.Folds)
	if err := s.Recipe(dir).Estimate(ctx); err != nil {
		return nil, err
	}
	scores, err := a.trained(o.Folds)
	if err == nil && scores == nil {
		err = fmt.Errorf("%s lacks scores of some training samples: remove the folder to train its nets again", dir)
	}
	return scores, err
}

func (a *Audit) folds() int { return a.session.Config.Settings().Folds() }

// foldSettings returns the run's settings for nets of folds: stage 1 alone, with the epochs of the offer.
func (a *Audit) foldSettings(o Offer) (recipe.Settings, error) {
	s := a.session.Config.Settings()
	s.Arm, s.Stage1, s.NoiseRates = recipe.Stage1, "", fmt.Sprintf("%s%d", recipe.FoldsOf, o.Folds)
	s.Recipe = recipe.Config{Form: recipe.Estimate, FoldEpochs: o.Epochs}
	s.Train.MaxSteps = 0
	if err := s.Validate(); err != nil {
		return s, &setting.Error{Reason: err}
	}
	if why := s.Inestimable(a.session.Data); why != "" {
		return s, setting.Errorf("noise_rates", "%s", why)
	}
	return s, nil
}

// Interrupted reports whether nets of this number of folds were begun and not finished.
func (a *Audit) Interrupted(folds int) bool {
	dir := a.foldsFolder(folds)
	settings := a.session.Config.Settings()
	return durable.Exists(filepath.Join(dir, recipe.FoldsFile)) &&
		!durable.Exists(filepath.Join(dir, settings.EstimateFile()))
}
