package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// A killed process has logged steps after its last checkpoint. They are made again, and the log has each step once.
func TestResume_LogTellsOfEachStepOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	config := small()
	config.Arm, config.Train.LogSteps = recipe.Stage1, 1
	session, err := run.Open(ctx, config, run.Options{Observer: run.Observer{
		Training: func(run.Training) []train.Observer {
			return []train.Observer{{Step: func(train.StepDone) { interrupt() }}}
		},
	}})
	expect.OK(t, err)
	if _, err := session.Train(ctx, dir); !errors.Is(err, run.ErrInterrupted) {
		t.Fatalf("error %v, want that of an interruption after step 1", err)
	}
	expect.OK(t, session.Close())
	const mark = 777777 // of the loss of steps that the checkpoint does not have
	log, err := os.OpenFile(filepath.Join(dir, run.LogFile), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = log.WriteString(`{"msg":"step","step":2,"loss":777777}
{"msg":"step","step":3,"loss":777777}
`)
		err = errors.Join(err, log.Close())
	}
	expect.OK(t, err)
	if session, err = run.Open(t.Context(), config, run.Options{}); err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Train(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	steps := loggedSteps(t, filepath.Join(dir, run.LogFile), mark)
	if want := []int{1, 2, 3}; !slices.Equal(steps, want) {
		t.Errorf("the log has the steps %v, want %v", steps, want)
	}
}

// loggedSteps returns the steps in a log; none may have this loss.
func loggedSteps(t *testing.T, path string, mark float64) (steps []int) {
	t.Helper()
	content := expect.Value(os.ReadFile(path))(t)
	for lines := bufio.NewScanner(strings.NewReader(string(content))); lines.Scan(); {
		var line struct {
			Msg  string
			Step int
			Loss float64
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		if line.Msg != "step" {
			continue
		}
		if line.Loss == mark {
			t.Errorf("the line of step %d of the killed process is still there", line.Step)
		}
		steps = append(steps, line.Step)
	}
	return steps
}
