package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nmn/internal/claim"
	"nmn/internal/lock"
	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
)

// MostWait is how long an experiment waits for what tasks of it do beside.
const MostWait = 24 * time.Hour

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

// RunTask does one task: it trains the run, or goes on where it was interrupted. Processes that do tasks of one
// experiment may work at once, on one folder that hosts share. Who comes to a task that another process is doing waits
// for its end, and takes it over where that process dies; so does who needs the stage 1 of other arms. No wait is longer
// than the time given. The task is complete when RunTask returns no error; reused says that it was before.
func (g *Grid) RunTask(ctx context.Context, s *run.Session, number int, wait time.Duration) (t *Task, reused bool,
	err error) {
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
	if err := g.enter(ctx, s, wait); err != nil {
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
	m.planning = alone(s, m, wait)
	if t.After >= 0 {
		if _, err := g.do(ctx, m, &tasks[t.After], len(tasks), wait); err != nil {
			return t, false, fmt.Errorf("%v, which %v needs: %w", &tasks[t.After], t, err)
		}
	}
	reused, err = g.do(ctx, m, t, len(tasks), wait)
	return t, reused, err
}

// enter makes the folder of the experiment, or takes it, alone.
func (g *Grid) enter(ctx context.Context, s *run.Session, wait time.Duration) error {
	if err := s.Save(ctx, func() error { return os.MkdirAll(g.Dir, 0o777) }); err != nil {
		return err
	}
	return Exclusively(ctx, s, filepath.Join(g.Dir, folderClaim), wait, func(ctx context.Context) error {
		return whenFree(ctx, s, wait, func() (err error) {
			release, err := s.Lock(ctx, g.Dir)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, release()) }()
			return s.PrepareFolder(ctx, g.Dir, append(TableFiles(), run.IndexFile)...)
		})
	})
}

// do does a task of members that has nothing to wait for.
func (g *Grid) do(ctx context.Context, m *members, t *Task, of int, wait time.Duration) (reused bool, err error) {
	s := m.session
	options, err := m.options(t.Arm)
	if err != nil {
		return false, err
	}
	options.Heading = fmt.Sprintf("noise %s, seed %d (task %d, %d in all)", t.Noise, t.Seed, t.Number, of)
	path := filepath.Join(t.Dir, taskClaim)
	if done, err := complete(ctx, s, options, path); err != nil || done {
		return done, errors.Join(err, s.Refresh(t.Dir))
	}
	if err := s.Save(ctx, func() error { return os.MkdirAll(t.Dir, 0o777) }); err != nil {
		return false, err
	}
	err = Exclusively(ctx, s, path, wait, func(ctx context.Context) error {
		return whenFree(ctx, s, wait, func() (err error) {
			_, reused, err = s.TrainArm(ctx, options)
			return err
		})
	})
	return reused, err
}

// complete reports whether a run is, which rank 0 looks up for all: others may end it at any moment.
func complete(ctx context.Context, s *run.Session, o run.ArmOptions, path string) (done bool, err error) {
	err = s.Lead(ctx, func(ctx context.Context) error {
		outcome, err := s.FinishedArm(ctx, o)
		if err != nil || outcome != nil {
			_ = claim.Tidy(ctx, path) // a run that is complete needs nothing of its folder
		}
		if outcome != nil {
			_ = run.TidyLock(o.Dir) // the process that completed it may have been killed before it removed the lock
		}
		done = outcome != nil
		return err
	})
	if err != nil {
		return false, err
	}
	return done, s.Share(&done)
}

// Files of claims; see package claim.
const (
	folderClaim = "folder.claim" // of the folder of the experiment, while it is made
	taskClaim   = "task.claim"   // of the folder of a run
	recipeClaim = ".claim"       // after the name of the folder of a recipe
)

// alone keeps other processes away from the recipe of members. Of several ranks those that follow get its folder anew
// where another process has written there since: it may hold scores of gigabytes.
func alone(s *run.Session, m *members, wait time.Duration) func(context.Context) (func() error, error) {
	dir, left := m.recipeDir(), ""
	return func(ctx context.Context) (func() error, error) {
		release, _, err := take(ctx, s, dir+recipeClaim, wait)
		if err != nil {
			return nil, err
		}
		changed := listing(dir) != left
		if err = s.Share(&changed); err == nil && changed {
			err = s.Refresh(dir)
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		return func() error {
			left = listing(dir)
			return release()
		}, nil
	}
}

// listing tells the files of a folder from those of another time: names, sizes and times.
func listing(dir string) string {
	var all strings.Builder
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // what is not there, or is removed at this moment, is no file
		}
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(&all, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return all.String()
}

// Exclusively calls f while no other process works under the same claim. The context of f ends where another process
// takes the claim over. Of several ranks rank 0 has the claim, for all.
func Exclusively(ctx context.Context, s *run.Session, path string, wait time.Duration,
	f func(context.Context) error) (err error) {
	release, held, err := take(ctx, s, path, wait)
	if err != nil {
		return err
	}
	defer func() {
		if cause := context.Cause(held); err != nil && errors.Is(cause, claim.ErrLost) {
			err = cause // in place of an interruption by a person
		}
		err = errors.Join(err, release())
	}()
	return f(held)
}

// take has rank 0 make a claim, and say for whom all ranks wait. held ends on rank 0 where the claim is lost.
func take(ctx context.Context, s *run.Session, path string, wait time.Duration) (release func() error,
	held context.Context, err error) {
	release, held = func() error { return nil }, ctx
	err = s.Lead(ctx, func(waiting context.Context) error {
		all, end := context.WithCancel(ctx)
		stop := context.AfterFunc(waiting, end) // which ends when the wait does, and all when the work is done
		c, of, err := claimed(all, s, path, wait)
		stop()
		if err != nil {
			end()
			return err
		}
		release, held = func() error { defer end(); return c.Release() }, of
		return nil
	})
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	return release, held, nil
}

// claimed makes a claim on this rank.
func claimed(ctx context.Context, s *run.Session, path string, wait time.Duration) (c *claim.Claim,
	held context.Context, err error) {
	err = s.Save(ctx, func() (err error) {
		c, held, err = claim.Take(ctx, path, claim.Options{Wait: wait, Waiting: func(h lock.Holder) {
			tellWait(s, fmt.Sprintf("%s is being worked on by %v", filepath.Dir(path), h), wait)
		}})
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, nil, fmt.Errorf("%w while waiting for %s: %w", run.ErrInterrupted, filepath.Dir(path), err)
	}
	var busy *claim.HeldError
	if errors.As(err, &busy) {
		err = fmt.Errorf("%s is still being worked on by %v after %v: wait longer with `experiment.wait`",
			filepath.Dir(path), busy.Holder, wait)
	}
	return c, held, err
}

// tellWait says for what the process waits.
func tellWait(s *run.Session, what string, wait time.Duration) {
	s.Tell(run.Message{Text: fmt.Sprintf("%s: waiting for its end, for up to %v", what, wait), Always: true})
}

// whenFree calls f again for as long as a folder that it writes is locked by a process that does no task, such as one of
// the whole experiment. Of several ranks rank 0 decides, after an error of which all know.
func whenFree(ctx context.Context, s *run.Session, wait time.Duration, f func() error) error {
	const pause = time.Second
	began, told := time.Now(), false
	for {
		err := f()
		if err == nil || s.Ranks().Size() > 1 && !run.Told(err) {
			return err
		}
		again := errors.Is(err, run.ErrLocked) && time.Since(began) < wait
		if sharing := s.Share(&again); sharing != nil || !again {
			return errors.Join(err, sharing)
		}
		if !told {
			told = true
			if s.Leads() {
				tellWait(s, err.Error(), wait)
			}
		}
		err = s.Lead(ctx, func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
			case <-time.After(pause):
				return nil
			}
		})
		if err != nil {
			return err
		}
	}
}
