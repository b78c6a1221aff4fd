package main

import (
	"cmp"
	"context"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/train"
)

// train trains the arm of a configuration in a folder, after stage 1 where it starts from that, or goes on where it
// was interrupted. A folder with an interrupted run is refused unless resume is set.
func (s *session) train(ctx context.Context, c *config, dir string, resume bool) (*outcome, error) {
	arm, err := c.Arm.trained(c.Net.MIL)
	if err != nil {
		return nil, err
	}
	if s, err = s.at(ctx, c); err != nil {
		return nil, err
	}
	from := c.Stage1
	found := s.recipe(*c, filepath.Join(dir, recipeName))
	switch {
	case arm.Stage == 1 && from != "":
		return nil, setting.Errorf("stage1", "--stage1 is for arms of stage 2; %s trains a net from its start", c.Arm)
	case arm.Stage == 2 && from == "" || c.Arm == armForward && c.Rates == ratesOnline:
		first := filepath.Join(dir, stage1Name)
		if err := s.firstStage(ctx, c, dir, first, found); err != nil {
			return nil, err
		}
		if arm.Stage == 2 {
			from = filepath.Join(first, train.LastName)
		}
	}
	if !resume && durable.Exists(filepath.Join(dir, train.LastName)) {
		if o, err := readOutcome(dir); err != nil || o == nil {
			return nil, cmp.Or(err, setting.Errorf("run_dir", "%s holds a run that was interrupted: go on with --resume %s, or name another --run-dir", dir, dir))
		}
	}
	o, reused, err := s.arm(*c, dir, from, found).run(ctx)
	if reused {
		s.tell(message{text: dir + " is complete: nothing was run again", detail: true})
	}
	return o, err
}

// firstStage trains stage 1. Where stage 2 has begun, stage 1 is over whatever its limits are.
func (s *session) firstStage(ctx context.Context, c *config, dir, first string, r *recipe) error {
	if err := prepareFolder(dir, c); err != nil {
		return err
	}
	if durable.Exists(filepath.Join(dir, train.LastName)) {
		return nil
	}
	stage1 := *c
	stage1.Arm = armStage1
	_, _, err := s.arm(stage1, first, "", r).run(ctx)
	return err
}
