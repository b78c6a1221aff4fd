package experiment

import (
	"context"
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/folder"
)

// Settle brings session and experiment to what is trained. It is part of Run and RunTask.
func (g *Grid) Settle(ctx context.Context, s *run.Session) error {
	plain, err := s.Prepare(ctx)
	if err != nil {
		return err
	}
	if plain {
		g.Arms = recipe.PaperArms()
	}
	g.Config = s.Config
	if slices.Contains(g.mils(), true) {
		c := g.Config
		c.Net.MIL = true
		return c.CheckInstances(s.Data.Train.Videos())
	}
	return nil
}

// RunTask does one task: it trains the run, or goes on where it was interrupted. Processes that do other tasks of the
// experiment may work at once, on one folder that hosts share. A task that goes on from another one is refused until
// that is complete, and so is one that another process is doing. reused says that the task was complete before.
func (g *Grid) RunTask(ctx context.Context, s *run.Session, number int) (t *Task, reused bool, err error) {
	if err := g.Settle(ctx, s); err != nil {
		return nil, false, err
	}
	tasks, err := g.Tasks()
	if err != nil {
		return nil, false, err
	}
	if number < 0 || number >= len(tasks) {
		return nil, false, setting.Errorf("experiment.task", "experiment: `experiment.task` is %d, and the tasks are 0 to %d",
			number, len(tasks)-1)
	}
	t = &tasks[number]
	if err := g.enter(ctx, s); err != nil {
		return t, false, err
	}
	clean := s.Data
	defer func() { s.Data = clean }()
	if err := g.withNoise(ctx, s, clean, t.level, t.Seed); err != nil {
		return t, false, err
	}
	m, err := g.members(ctx, s, t.level, t.Seed, t.MIL)
	if err != nil {
		return t, false, err
	}
	if t.After >= 0 {
		done, err := m.complete(ctx, &tasks[t.After])
		if err == nil && !done {
			err = fmt.Errorf("%v goes on from %v, which is not complete: do that one first", t, &tasks[t.After])
		}
		if err != nil {
			return t, false, err
		}
	}
	if done, err := m.complete(ctx, t); err != nil || done {
		return t, done, err
	}
	options, err := m.options(t.Arm)
	if err != nil {
		return t, false, err
	}
	options.Heading = fmt.Sprintf("noise %s, seed %d (task %d, %d in all)", t.Noise, t.Seed, t.Number, len(tasks))
	_, reused, err = m.session.TrainArm(ctx, options)
	return t, reused, err
}

// enter makes the folder of the experiment, or takes it. Tasks that begin at once do so one after the other. A lock
// that was lost meanwhile does no harm: tasks write the same files there.
func (g *Grid) enter(ctx context.Context, s *run.Session) error {
	return whenFree(ctx, s, func() error {
		release, err := s.Ranks.Lock(ctx, g.Dir)
		if err != nil {
			return err
		}
		defer func() { _ = release() }()
		return s.PrepareFolder(ctx, g.Dir, append(TableFiles(), run.IndexFile)...)
	})
}

// complete reports whether the run of a task is.
func (m *members) complete(ctx context.Context, t *Task) (bool, error) {
	options, err := m.options(t.Arm)
	if err != nil {
		return false, err
	}
	outcome, err := m.session.FinishedArm(ctx, options)
	if outcome != nil {
		_ = run.TidyLock(t.Dir) // the process that completed it may have been killed before it removed the lock
	}
	return outcome != nil, err
}

// Exclusively waits until no other process has the lock of a folder that no run of its own is in, and takes it until
// release is called.
func Exclusively(ctx context.Context, s *run.Session, dir string) (release func() error, err error) {
	err = whenFree(ctx, s, func() (err error) {
		release, err = folder.LockBeside(ctx, dir, s.Log)
		return err
	})
	return release, err
}

// whenFree calls f again for as long as another process has the lock that it wants.
func whenFree(ctx context.Context, s *run.Session, f func() error) error {
	told := func(err error) {
		s.Notify(run.Message{Text: fmt.Sprintf("%v: waiting for its end", err), Always: true})
	}
	err := folder.WhenFree(ctx, told, f)
	if err != nil && err == ctx.Err() {
		err = fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	return err
}
