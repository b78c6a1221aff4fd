package main

import (
	"context"
	"fmt"

	"nmn/run"
)

// findRate searches for a learning rate and shows what was found.
func (t *trainCommand) findRate(ctx context.Context, p *program, s *run.Session) error {
	found, err := s.FindLearningRate(ctx, t.runDir)
	if err != nil {
		return err
	}
	if t.asJSON {
		return writeJSON(p.out, found)
	}
	_, err = fmt.Fprintf(p.out, "%s%s\n%s\n", withFlags(found.Text()), found.Table, found.Chart)
	return err
}

// checkMode refuses flags that ask for different things.
func (t *trainCommand) checkMode() error {
	if t.findingRate && t.dryRun {
		return usagef("train: --find-learning-rate looks for a rate before a run begins: " +
			"leave out --dry-run")
	}
	return nil
}
