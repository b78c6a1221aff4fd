package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/folder"
)

// Task is one run of an experiment. Tasks can run at the same time as separate jobs.
type Task struct {
	Number int         `json:"task"` // from 0
	Arm    recipe.Name `json:"arm"`
	Noise  string      `json:"noise"` // the noise level, for people
	MIL    bool        `json:"mil"`
	Seed   uint64      `json:"seed"`
	Dir    string      `json:"folder"`
	// After is the number of the task that must be complete before, that of stage 1; negative for none.
	After    int  `json:"after"`
	Complete bool `json:"complete"` // by the result in its folder

	level noiseLevel
}

// String names the task for people.
func (t *Task) String() string {
	return fmt.Sprintf("task %d (%s, noise %s, seed %d)", t.Number, t.Arm.Title(t.MIL), t.Noise, t.Seed)
}

// Tasks are the runs of the experiment: first stage 1 of every noise level, seed and setting of MIL, then the other
// arms, both in the order in which one process trains them. Their numbers depend on arms, noise levels, seeds and MIL
// alone. Who has a session calls Settle before, for data can leave fewer arms.
func (g *Grid) Tasks() ([]Task, error) {
	var first, rest []Task
	for _, level := range g.levels() {
		for _, seed := range g.Seeds {
			for _, mil := range g.mils() {
				for _, name := range g.needed() {
					arm, err := name.ForTraining(mil)
					if err != nil {
						return nil, err
					}
					t := Task{Arm: name, Noise: level.String(), MIL: mil, Seed: seed,
						Dir: filepath.Join(g.seedDir(level, seed), arm.Name), After: len(first) - 1, level: level}
					outcome, err := run.ReadOutcome(t.Dir)
					t.Complete = err == nil && outcome != nil
					if name == recipe.Stage1 {
						t.After = -1
						first = append(first, t)
					} else {
						rest = append(rest, t)
					}
				}
			}
		}
	}
	all := append(first, rest...)
	for i := range all {
		all[i].Number = i
	}
	return all, nil
}

// Ranges writes numbers of tasks in order as job arrays take them, such as 0,3-5.
func Ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ",")
}

// MissingError says which tasks are not complete.
type MissingError struct {
	Tasks []Task // in order, at least one
}

func (e *MissingError) Error() string {
	return e.Missing() + ": run them with `experiment.task`, or give `experiment.partial` for tables of what is there"
}

// Missing says for people which tasks are not complete, with their numbers as job arrays take them.
func (e *MissingError) Missing() string {
	var numbers []int
	for _, t := range e.Tasks {
		numbers = append(numbers, t.Number)
	}
	first := &e.Tasks[0]
	return fmt.Sprintf("runs that are not complete: %d, tasks %s (the first of them is %s in %s)", len(numbers),
		Ranges(numbers), first.Arm.Title(first.MIL), first.Dir)
}

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
		c.SetMIL(true)
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
