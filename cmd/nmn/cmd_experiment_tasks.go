package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/experiment"
	"nmn/internal/visible"
	"nmn/report"
	"nmn/run"
)

// jobFlags are the flags for job arrays.
type jobFlags struct {
	list, count      bool
	task             bool // number is given
	number           int
	collect, partial bool
}

func (j *jobFlags) declare(cmd *cobra.Command) {
	r := under(cmd, "Job arrays")
	r.bool(&j.list, "tasks", "list the runs with their numbers")
	r.bool(&j.count, "count", "print only the number of tasks")
	r.int(&j.number, "task", "train only the run with this `number`", "[0,]")
	r.bool(&j.collect, "collect", "write the tables and page once all runs are complete")
	r.bool(&j.partial, "partial", "collect even if some runs are incomplete")
	r.rare("count", "partial")
	r.needs("tasks", "count")
	r.needs("collect", "partial")
}

// wanted reports whether one of the flags is set.
func (j *jobFlags) wanted() bool { return j.list || j.collect || j.task }

// named returns the name of the experiment, or of its task, in metrics.
func (j *jobFlags) named(experiment string) string {
	if !j.task {
		return experiment
	}
	return fmt.Sprintf("%s-task-%d", experiment, j.number)
}

// resolve notes whether a task is asked for. It refuses more than one way to work.
func (j *jobFlags) resolve(cmd *cobra.Command) error {
	j.task = cmd.Flags().Changed("task")
	if j.list && j.collect || j.task && (j.list || j.collect) {
		return usagef("%s: give one of --tasks, --task and --collect", cmd.Name())
	}
	return nil
}

func (e *experimentCommand) printTasks(ctx context.Context, p *program, s *run.Session) error {
	if err := e.Settle(ctx, s); err != nil {
		return err
	}
	tasks, err := e.Tasks()
	if err != nil {
		return err
	}
	return e.jobs.print(p, len(tasks), tasks, e.shown.form(), experimentTasks(tasks))
}

// print prints n tasks: their number, all as JSON, or a table.
func (j *jobFlags) print(p *program, n int, tasks any, format report.Format, table *report.Table) error {
	switch {
	case j.count:
		_, err := fmt.Fprintln(p.out, n)
		return err
	case format == report.JSON:
		return writeJSON(p.out, map[string]any{"count": n, "tasks": tasks})
	}
	return report.Write(p.out, format, table)
}

// tellTask prints what became of a task with a folder.
func (p *program) tellTask(task fmt.Stringer, folder string, reused bool) error {
	how := "trained"
	if reused {
		how = "already complete"
	}
	_, err := fmt.Fprintf(p.out, "%v: %s: %s\n", task, visible.Line(folder), how)
	return err
}

// listed is a task in a table. Its texts have the columns of its kind of tasks.
type listed struct {
	number, after int // after is -1 for a task that needs no other
	texts         []string
	complete      bool
	folder        string
}

// tasksTable shows tasks, and returns how many are complete.
func tasksTable(title string, columns []report.Column, tasks []listed) (t *report.Table, complete int) {
	t = &report.Table{Title: title, Columns: slices.Concat([]report.Column{{Name: "task"}}, columns,
		[]report.Column{{Name: "after"}, {Name: "complete", Text: true}, {Name: "folder", Text: true}})}
	number := func(n int) report.Cell { return report.NumberCell(eval.Number(n)) }
	for _, task := range tasks {
		cells := []report.Cell{number(task.number)}
		for _, text := range task.texts {
			cells = append(cells, report.TextCell(text))
		}
		after, done := report.TextCell(""), "no"
		if task.after >= 0 {
			after = number(task.after)
		}
		if task.complete {
			done = "yes"
			complete++
		}
		t.Rows = append(t.Rows, report.Row{Cells: append(cells, after, report.TextCell(done),
			report.TextCell(visible.Line(task.folder)))})
	}
	return t, complete
}

func experimentTasks(tasks []experiment.Task) *report.Table {
	var rows []listed
	var first, then []int
	for _, task := range tasks {
		if task.After >= 0 {
			then = append(then, task.Number)
		} else {
			first = append(first, task.Number)
		}
		rows = append(rows, listed{number: task.Number, after: task.After, complete: task.Complete, folder: task.Dir,
			texts: []string{string(task.Arm), fmt.Sprint(task.Noise), map[bool]string{false: "no", true: "yes"}[task.MIL],
				fmt.Sprint(task.Seed)}})
	}
	t, complete := tasksTable("Tasks of the experiment", []report.Column{{Name: "arm", Text: true},
		{Name: "noise", Text: true}, {Name: "MIL", Text: true}, {Name: "seed"}}, rows)
	t.Notes = []string{fmt.Sprintf("%d tasks, %d complete. Run %s first, then %s: a task needs the task under \"after\".",
		len(tasks), complete, experiment.Ranges(first), cmp.Or(experiment.Ranges(then), "nothing"))}
	return t
}

// collectTasks writes and prints the tables of the finished tasks.
func (e *experimentCommand) collectTasks(ctx context.Context, p *program, s *run.Session) error {
	outcome, missing, err := e.Collect(ctx, s, e.jobs.partial)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		p.message(run.Message{Text: (&experiment.MissingError{Tasks: missing}).Missing(), Always: true})
	}
	return e.show(p, outcome)
}
