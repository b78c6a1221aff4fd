package paper

import (
	"context"
	"fmt"
	"path/filepath"

	"nmn/experiment"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/paper/table4"
	"nmn/report"
	"nmn/run"
)

// Task is a job that can run next to others: a run of a reproduction, all captioners of Table 4 on moving
// scenes, or on MSR-VTT the concepts of a net or a captioner.
type Task struct {
	Number   int    `json:"task"` // from 0
	What     string `json:"what"` // for people
	Data     string `json:"data"`
	Folder   string `json:"folder"`
	After    int    `json:"after"` // the task that must be complete before; negative for none
	Complete bool   `json:"complete"`

	unit, inner int
	piece       table4.Piece // of Table 4 on MSR-VTT
}

// Tasks are what there is to train, in order, each once. Their numbers depend on the settings alone.
func (p *Plan) Tasks() ([]Task, error) {
	var all []Task
	at := map[string]int{}
	for i := range p.Units {
		u := &p.Units[i]
		if u.Captions != nil && u.Captions.Videos != nil {
			if err := p.addPieces(&all, at, i); err != nil {
				return nil, err
			}
			continue
		}
		if u.Captions != nil {
			all = append(all, Task{Number: len(all), What: u.Title, Data: u.Data, Folder: p.folder(u), After: -1, unit: i,
				Complete: durable.Exists(filepath.Join(p.folder(u), scoresFile))})
			continue
		}
		tasks, err := u.Grid.Tasks()
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if _, there := at[t.Dir]; there {
				continue
			}
			one := Task{Number: len(all), Data: u.Data, Folder: t.Dir, After: -1, Complete: t.Complete, unit: i, inner: t.Number,
				What: fmt.Sprintf("%s, noise %s, seed %d", t.Arm.Title(t.MIL), t.Noise, t.Seed)}
			if t.After >= 0 {
				one.After = at[tasks[t.After].Dir]
			}
			at[t.Dir] = one.Number
			all = append(all, one)
		}
	}
	return all, nil
}

// addPieces adds the tasks of Table 4 on MSR-VTT. Each net of Table 3 is followed by its concepts, and these
// by a captioner.
func (p *Plan) addPieces(all *[]Task, at map[string]int, unit int) error {
	u := &p.Units[unit]
	for _, piece := range u.Captions.Pieces() {
		one := Task{Number: len(*all), What: piece.String(), Data: u.Data, Folder: u.Captions.PieceFolder(piece),
			After: len(*all) - 1, unit: unit, piece: piece}
		if !piece.Captioner {
			net, err := u.Captions.Net(piece)
			if err != nil {
				return err
			}
			one.After = at[net.Dir]
		}
		var err error
		if one.Complete, err = u.Captions.Complete(piece); err != nil {
			return err
		}
		*all = append(*all, one)
	}
	return nil
}

// String is the printed name of the task.
func (t *Task) String() string { return fmt.Sprintf("task %d (%s on %s)", t.Number, t.What, t.Data) }

// RunTask does one task. Like experiment.Grid.RunTask, it is safe while other processes do other tasks. The
// captioners on moving scenes are one task, which one process does at a time.
func (p *Plan) RunTask(ctx context.Context, o Options, number int) (t *Task, reused bool, err error) {
	tasks, err := p.Tasks()
	if err != nil {
		return nil, false, err
	}
	if number < 0 || number >= len(tasks) {
		return nil, false, setting.Errorf("task", "reproduce: `experiment.task` is %d, and the tasks are 0 to %d", number,
			len(tasks)-1)
	}
	t = &tasks[number]
	if err := p.Claim(); err != nil {
		return t, false, err
	}
	u := &p.Units[t.unit]
	switch {
	case u.Captions != nil && u.Captions.Videos != nil:
		reused, err = p.runPiece(ctx, &o, u, t.piece)
		return t, reused, interrupted(ctx, err)
	case u.Captions != nil:
		reused = t.Complete
		_, err = p.trainCaptions(ctx, &o, u)
		return t, reused, interrupted(ctx, err)
	}
	_, err = p.withSession(ctx, &o, u.Grid, func(s *run.Session) ([]report.Run, int, error) {
		_, reused, err = u.Grid.RunTask(ctx, s, t.inner)
		return nil, 0, err
	})
	return t, reused, interrupted(ctx, err)
}

// Collect writes the files of Run from complete runs, and trains nothing. If some are missing it writes
// nothing, and the error is a *MissingError. With partial it shows the complete ones.
func (p *Plan) Collect(ctx context.Context, o Options, partial bool) (*Outcome, error) {
	tasks, err := p.Tasks()
	if err != nil {
		return nil, err
	}
	missing := &MissingError{All: len(tasks)}
	for _, t := range tasks {
		if !t.Complete {
			missing.Tasks = append(missing.Tasks, t)
		}
	}
	if len(missing.Tasks) > 0 && (!partial || len(missing.Tasks) == len(tasks)) {
		return nil, missing
	}
	return p.writeUnits(ctx, &o, func(u *Unit) (*foundUnit, error) { return p.finished(ctx, &o, u) })
}

func (p *Plan) finished(ctx context.Context, o *Options, u *Unit) (*foundUnit, error) {
	if u.Captions != nil {
		return p.readCaptions(u)
	}
	return p.withSession(ctx, o, u.Grid, func(s *run.Session) ([]report.Run, int, error) {
		runs, missing, err := u.Grid.Finished(ctx, s)
		return runs, len(missing), err
	})
}

// MissingError lists the tasks that are not complete.
type MissingError struct {
	Tasks []Task
	All   int // how many there are
}

func (e *MissingError) Error() string {
	var numbers []int
	for _, t := range e.Tasks {
		numbers = append(numbers, t.Number)
	}
	return fmt.Sprintf("%d of %d tasks are not complete: %s; run them with `experiment.task`, or use "+
		"`experiment.partial` for a page of the complete ones", len(e.Tasks), e.All, experiment.Ranges(numbers))
}
