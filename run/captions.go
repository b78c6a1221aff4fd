package run

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"nmn/internal/durable"
	"nmn/recipe"
)

// CaptionScores trains nets of folds on the captions of the training bags in a folder, and returns the file with their
// out-of-fold log-odds, which judge the captions. It goes on with nets that were interrupted, and trains none if the
// file is there. The configuration has arm caption-filter and folds. It fails as Train does.
func (s *Session) CaptionScores(ctx context.Context, dir string) (scores string, err error) {
	if err := s.Fits(); err != nil {
		return "", err
	}
	release, err := s.Ranks.Lock(ctx, dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := s.folder(dir, ofRun).prepare(ctx); err != nil {
		return "", err
	}
	if scores = CaptionScoresFile(dir); durable.Exists(scores) {
		return scores, nil
	}
	return scores, s.Recipe(filepath.Dir(scores)).JudgeCaptions(ctx)
}

// CaptionScoresFile is the file of a run folder with the out-of-fold log-odds by which the run judges captions. A run
// may have none.
func CaptionScoresFile(dir string) string {
	return filepath.Join(dir, RecipeFolder, recipe.CaptionScoresFile)
}

// CaptionScoresTime estimates how long CaptionScores trains at most. It is 0 if the scores are there.
func (s *Session) CaptionScoresTime(ctx context.Context, dir string) (time.Duration, error) {
	if durable.Exists(CaptionScoresFile(dir)) {
		return 0, nil
	}
	arm, err := recipe.Stage1.ForTraining(s.Config.Net.MIL)
	if err != nil {
		return 0, err
	}
	e := NewEstimator(s)
	w, err := e.Workload(ctx, arm)
	if err != nil {
		return 0, err
	}
	m, err := e.Estimate(ctx, arm, w)
	if err != nil {
		return 0, err
	}
	epoch := float64(m.Total()) / float64(max(s.Config.Train.Stage1Epochs, 1))
	return time.Duration(epoch * s.Config.Settings().CaptionEpochs(s.Data.Train.CaptionsInUse)), nil
}
