package run

import (
	"context"
	"errors"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/picture"
	"nmn/recipe"
	"nmn/train"
)

// Train trains the arm of the configuration in a folder, after stage 1 where it starts from that, evaluates it and
// writes the page of the run. A folder with the same run is gone on with, and ends as if it had never been interrupted;
// one that is complete is read and not run again. A folder of another run is refused with a *ConfigError that says what
// differs, unless Options.Restart removes that run, and one that another process is writing with an error that wraps
// ErrLocked. When ctx ends, what was done is saved, and the error wraps ErrInterrupted.
func (s *Session) Train(ctx context.Context, dir string) (o *Outcome, err error) {
	if !s.prepared {
		if _, err := s.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.Fits(); err != nil {
		return nil, err
	}
	c := &s.Config
	arm, err := c.Arm.ForTraining(c.Net.MIL)
	if err != nil {
		return nil, err
	}
	s.TellCost(c.Arm)
	if s, err = s.With(ctx, *c); err != nil {
		return nil, err
	}
	release, err := s.Ranks.Lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if s.restart {
		if err := s.Ranks.Save(ctx, func() error { return clearFolder(dir) }); err != nil {
			return nil, err
		}
	}
	from := c.Stage1
	found := s.Recipe(filepath.Join(dir, RecipeFolder))
	switch {
	case arm.Stage == 1 && from != "":
		return nil, setting.Errorf("stage1", "`stage1` is for arms of stage 2; %s trains a net from its start", c.Arm)
	case arm.Stage == 2 && from == "" || c.Arm == recipe.Forward && c.NoiseRates == recipe.Online:
		first := filepath.Join(dir, Stage1Folder)
		if err := s.firstStage(ctx, dir, first, found); err != nil {
			return nil, err
		}
		if arm.Stage == 2 {
			from = filepath.Join(first, train.LastName)
		}
	}
	o, reused, err := newArmRun(s, ArmOptions{Arm: c.Arm, Dir: dir, From: from, Recipe: found}).train(ctx)
	if err == nil && reused {
		s.Notify(Reused(dir))
	}
	return o, err
}

// Fits refuses data that lack what the arm needs, before anything is trained.
func (s *Session) Fits() error { return s.Config.Settings().Fits(s.Data) }

// firstStage trains stage 1. Where stage 2 has begun, stage 1 is over whatever its limits are.
func (s *Session) firstStage(ctx context.Context, dir, first string, r *recipe.Recipe) error {
	if err := s.folder(dir, ofRun).prepare(ctx); err != nil {
		return err
	}
	begun, err := fromRank0(s.Ranks, durable.Exists(filepath.Join(dir, train.LastName)))
	if err != nil || begun {
		return err
	}
	_, _, err = s.TrainArm(ctx, ArmOptions{Arm: recipe.Stage1, Dir: first, Recipe: r})
	return err
}

// Recipe finds what the arms of one group need, all that share noise, seed and setting of MIL, and keeps it in a
// folder; nil for the paper's plain form, which has none.
func (s *Session) Recipe(dir string) *recipe.Recipe {
	o := recipe.Options{Settings: s.Config.Settings(), Data: s.Data, Dir: dir, Trainer: newArmRun(s, ArmOptions{Dir: dir}),
		Log: s.Log, Save: s.Ranks.Save,
		Message: func(topic, text string) { s.Notify(Message{Topic: topic, Text: text}) }}
	if !s.Config.Data.Embedded() {
		as := picture.Picture{MaxPixels: s.Config.Data.MaxPixels, Orientation: s.Config.Data.Orientation}
		o.Alike = func(ctx context.Context, most int) ([][]int, error) {
			return s.alike.groups(ctx, s.Data.Train, as, s.Ranks.group, most, s.Notify)
		}
	}
	return recipe.New(o)
}

// TellCost says what a recipe costs before anything starts.
func (s *Session) TellCost(arms ...recipe.Name) {
	if line := s.Config.Settings().Cost(arms, s.Data.Train.CaptionsInUse); line != "" {
		s.Notify(Message{Topic: "recipe", Text: line})
	}
}
