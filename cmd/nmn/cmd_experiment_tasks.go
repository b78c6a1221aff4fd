package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/experiment"
	ranks "nmn/group"
	"nmn/internal/visible"
	"nmn/report"
	"nmn/run"
)

// Variables by which schedulers tell a job of an array its number, in the order in which they are asked for.
var taskVariables = [...]string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"}

// taskFromEnvironment has the number of the task come from one of taskVariables. Without --task these change nothing: a
// whole experiment may be one job of an array that is about something else.
const taskFromEnvironment = "auto"

// jobFlags are the flags of an experiment that is done by a job array.
type jobFlags struct {
	list, count      bool
	task             string // number, or taskFromEnvironment; empty for none
	number           int
	collect, partial bool
	wait             time.Duration
}

// newJobFlags are those with their defaults.
func newJobFlags() jobFlags { return jobFlags{wait: 24 * time.Hour} }

func (j *jobFlags) declare(cmd *cobra.Command) {
	r := under(cmd, "Job arrays")
	r.bool(&j.list, "tasks", "print the runs with their numbers, train nothing, and write nothing")
	r.bool(&j.count, "count", "with --tasks: print how many there are, and nothing else")
	r.string(&j.task, "task", "do the run of this `number` alone, safely beside others; auto for the number in "+
		strings.Join(taskVariables[:], " or "))
	r.duration(&j.wait, "wait",
		"with --task: most `time` to wait for stage 1, or for the same run, that another task is doing")
	r.bool(&j.collect, "collect", "write and print tables and page of all runs, which must be complete")
	r.bool(&j.partial, "partial", "with --collect: of those that are complete")
	r.completes("task", taskFromEnvironment)
}

// wanted reports whether the experiment is one of tasks.
func (j *jobFlags) wanted() bool { return j.list || j.collect || j.task != "" }

// named is the name that metrics have for the experiment, or for its task.
func (j *jobFlags) named(experiment string) string {
	if j.task == "" {
		return experiment
	}
	return fmt.Sprintf("%s-task-%d", experiment, j.number)
}

// resolve checks the flags, and finds the number of the task.
func (j *jobFlags) resolve(cmd *cobra.Command, p *program) error {
	ways := 0
	for _, way := range []bool{j.list, j.collect, cmd.Flags().Changed("task")} {
		if way {
			ways++
		}
	}
	if ways > 1 {
		return usagef("%s: give one of --tasks, --task and --collect", cmd.Name())
	}
	for _, of := range []struct {
		given      bool
		flag, with string
	}{{j.list, "count", "tasks"}, {j.collect, "partial", "collect"}, {j.task != "", "wait", "task"}} {
		if !of.given {
			if err := unreadFlags(cmd, "without --"+of.with, of.flag); err != nil {
				return err
			}
		}
	}
	if !cmd.Flags().Changed("task") {
		return nil
	}
	if j.wait < 0 {
		return usagef("%s: --wait is %v, want no less than 0", cmd.Name(), j.wait)
	}
	from, value := "--task", j.task
	if value == taskFromEnvironment {
		from, value = p.taskVariable()
	}
	if err := p.fromRank0(&from, &value); err != nil { // which may have the variable alone
		return err
	}
	if value == "" && j.task == taskFromEnvironment {
		return usagef("%s: --task auto, and none of %s is set: give a number", cmd.Name(),
			strings.Join(taskVariables[:], " and "))
	}
	var err error
	if j.number, err = strconv.Atoi(value); err != nil || j.number < 0 {
		return usagef("%s: %s is %q, want a number of --tasks", cmd.Name(), from, value)
	}
	return nil
}

// fromRank0 gives every rank texts that rank 0 has.
func (p *program) fromRank0(texts ...*string) error {
	for _, text := range texts {
		all, err := ranks.Exchange(ranks.Of(p.ranks), []byte(*text), nil)
		if err != nil {
			return err
		}
		*text = string(all[0])
	}
	return nil
}

// taskVariable is the variable that tells the number of a task, with its value.
func (p *program) taskVariable() (name, value string) {
	for _, name := range taskVariables {
		if value := p.getenv(name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// printTasks prints the tasks of the experiment.
func (e *experimentCommand) printTasks(ctx context.Context, p *program, s *run.Session) error {
	if err := e.Settle(ctx, s); err != nil {
		return err
	}
	tasks, err := e.Tasks()
	if err != nil {
		return err
	}
	switch {
	case e.jobs.count:
		_, err = fmt.Fprintln(p.out, len(tasks))
		return err
	case e.asJSON || e.format == report.JSON:
		out := json.NewEncoder(p.out)
		out.SetIndent("", "  ")
		return out.Encode(map[string]any{"count": len(tasks), "tasks": tasks})
	}
	return report.Write(p.out, e.format, tasksTable(tasks))
}

// tasksTable shows tasks.
func tasksTable(tasks []experiment.Task) *report.Table {
	t := &report.Table{Title: "Tasks of the experiment", Columns: []report.Column{{Name: "task"},
		{Name: "arm", Text: true}, {Name: "noise", Text: true}, {Name: "MIL", Text: true}, {Name: "seed"},
		{Name: "after"}, {Name: "complete", Text: true}, {Name: "folder", Text: true}}}
	cell := func(v any) report.Cell {
		return report.Cell{Text: fmt.Sprint(v), Value: eval.Undefined(), Spread: eval.Undefined()}
	}
	whole := func(n int) report.Cell {
		c := cell(n)
		c.Value = eval.Number(n)
		return c
	}
	yes := map[bool]string{false: "no", true: "yes"}
	complete := 0
	for _, task := range tasks {
		after := cell("")
		if task.After >= 0 {
			after = whole(task.After)
		}
		if task.Complete {
			complete++
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{whole(task.Number), cell(task.Arm), cell(task.Noise),
			cell(yes[task.MIL]), whole(int(task.Seed)), after, cell(yes[task.Complete]), cell(visible.Line(task.Dir))}})
	}
	t.Notes = []string{fmt.Sprintf("%d tasks, 0-%d; %d are complete. A task waits for the one under \"after\", or does it.",
		len(tasks), len(tasks)-1, complete)}
	return t
}

// doTask does one task.
func (e *experimentCommand) doTask(ctx context.Context, p *program, s *run.Session) error {
	t, reused, err := e.RunTask(ctx, s, e.jobs.number, e.jobs.wait)
	if err != nil {
		return err
	}
	how := "trained"
	if reused {
		how = "was complete, not run again"
	}
	_, err = fmt.Fprintf(p.out, "%v: %s: %s\n", t, visible.Line(t.Dir), how)
	return err
}

// collectTasks writes the tables of what tasks have left, and prints them.
func (e *experimentCommand) collectTasks(ctx context.Context, p *program, s *run.Session) error {
	outcome, missing, err := e.Collect(ctx, s, e.jobs.partial)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		p.tell(run.Message{Text: (&experiment.MissingError{Tasks: missing}).Missing(), Always: true})
	}
	return e.show(p, outcome)
}
