package run

import (
	"context"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/train"
)

// Train trains the arm of a configuration in a folder, after stage 1 where it starts from that, or goes on where it
// was interrupted. A folder with an interrupted run is refused unless resume is set.
func (s *Session) Train(ctx context.Context, c *Config, dir string, resume bool) (*Outcome, error) {
	arm, err := c.Arm.TrainArm(c.Net.MIL)
	if err != nil {
		return nil, err
	}
	if s, err = s.At(ctx, c); err != nil {
		return nil, err
	}
	from := c.Stage1
	found := s.Recipe(*c, filepath.Join(dir, RecipeFolder))
	switch {
	case arm.Stage == 1 && from != "":
		return nil, setting.Errorf("stage1", "`stage1` is for arms of stage 2; %s trains a net from its start", c.Arm)
	case arm.Stage == 2 && from == "" || c.Arm == recipe.Forward && c.Rates == recipe.Online:
		first := filepath.Join(dir, Stage1Folder)
		if err := s.firstStage(ctx, c, dir, first, found); err != nil {
			return nil, err
		}
		if arm.Stage == 2 {
			from = filepath.Join(first, train.LastName)
		}
	}
	if !resume {
		if err := RefuseInterrupted(dir); err != nil {
			return nil, err
		}
	}
	o, reused, err := s.Arm(*c, dir, from, found).Run(ctx)
	if reused {
		s.Tell(Message{Text: dir + " is complete: nothing was run again", Detail: true})
	}
	return o, err
}

// firstStage trains stage 1. Where stage 2 has begun, stage 1 is over whatever its limits are.
func (s *Session) firstStage(ctx context.Context, c *Config, dir, first string, r *recipe.Recipe) error {
	if err := PrepareFolder(dir, c); err != nil {
		return err
	}
	if durable.Exists(filepath.Join(dir, train.LastName)) {
		return nil
	}
	stage1 := *c
	stage1.Arm = recipe.Stage1
	_, _, err := s.Arm(stage1, first, "", r).Run(ctx)
	return err
}
