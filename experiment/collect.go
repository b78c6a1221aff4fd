package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nmn/report"
	"nmn/run"
)

// Collect writes the tables and the page of runs that are complete, as Run does when it has trained them all, and
// trains nothing. Where some are missing it writes nothing, and the error is a *MissingError; with partial, missing
// holds their tasks instead.
func (g *Grid) Collect(ctx context.Context, s *run.Session, partial bool) (o *Outcome, missing []Task, err error) {
	runs, missing, err := g.Finished(ctx, s)
	switch {
	case err != nil:
		return nil, nil, err
	case len(missing) > 0 && (!partial || len(runs) == 0):
		return nil, nil, &MissingError{missing}
	}
	release, err := s.Ranks.Lock(ctx, g.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := s.PrepareFolder(ctx, g.Dir, append(TableFiles(), run.IndexFile)...); err != nil {
		return nil, nil, err
	}
	o, err = g.write(ctx, s, runs)
	return o, missing, err
}

// Finished reads the runs that are complete and were asked for, in order, and says which tasks are not. Nothing is
// trained or written.
func (g *Grid) Finished(ctx context.Context, s *run.Session) (runs []report.Run, missing []Task, err error) {
	if err := g.Settle(ctx, s); err != nil {
		return nil, nil, err
	}
	tasks, err := g.Tasks()
	if err != nil {
		return nil, nil, err
	}
	return g.finished(ctx, s, tasks)
}

// as returns a session that computes in the precision of the run in a folder, whatever device is at hand. Results are
// identified by their precision too, so results of graphics cards can be collected on a machine without a card.
func as(s *run.Session, dir string) *run.Session {
	there, err := run.ReadConfig(dir)
	if err != nil {
		return s // of a run that has not begun
	}
	other := *s
	other.Config.Run.Precision, other.Config.Run.ConvExact = there.Run.Precision, there.Run.ConvExact
	return &other
}

// finished reads the runs of tasks that are complete and were asked for, in the order in which one process trains them,
// and says which tasks are not complete.
func (g *Grid) finished(ctx context.Context, s *run.Session, tasks []Task) (runs []report.Run, missing []Task,
	err error) {
	clean := s.Data
	defer func() { s.Data = clean }()
	var m *members
	var before *Task
	for _, t := range asTrained(tasks) {
		if before == nil || t.level != before.level || t.Seed != before.Seed {
			if err := g.withNoise(ctx, s, clean, t.level, t.Seed); err != nil {
				return nil, nil, err
			}
		}
		before = t
		if t.After < 0 { // the first of its group
			if m, err = g.members(ctx, s, t.level, t.Seed, t.MIL); err != nil {
				return nil, nil, err
			}
		}
		options, err := m.options(t.Arm)
		if err != nil {
			return nil, nil, err
		}
		outcome, err := as(m.session, t.Dir).FinishedArm(ctx, options)
		if err != nil {
			return nil, nil, fmt.Errorf("%v: %w", t, err)
		}
		if outcome == nil {
			missing = append(missing, *t)
			continue
		}
		if !slices.Contains(g.Arms, t.Arm) {
			continue
		}
		page, err := m.report(t.Arm, t.Dir, outcome)
		if err != nil {
			return nil, nil, err
		}
		runs = append(runs, *page)
	}
	slices.SortFunc(missing, func(a, b Task) int { return a.Number - b.Number })
	return runs, missing, nil
}

// asTrained has tasks in the order in which one process trains them: each run of stage 1, then those that go on from
// it.
func asTrained(tasks []Task) (all []*Task) {
	for i := range tasks {
		if tasks[i].After >= 0 {
			continue
		}
		all = append(all, &tasks[i])
		for j := range tasks {
			if tasks[j].After == tasks[i].Number {
				all = append(all, &tasks[j])
			}
		}
	}
	return all
}
