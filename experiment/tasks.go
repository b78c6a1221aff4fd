package experiment

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"nmn/recipe"
	"nmn/run"
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
