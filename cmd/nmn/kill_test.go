package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/report"
	"nmn/run"
)

// TestTrain_KilledTwentyTimes kills a run of both stages without warning, goes on each time, and holds
// what it leaves to that of a run in one piece.
func TestTrain_KilledTwentyTimes(t *testing.T) {
	t.Parallel()
	skipShort(t, "kills and restarts processes")
	killedRunEqualsWhole(t, 20, tiny("train", "--set", "train.stage1_epochs=6", "--set", "train.stage2_epochs=6",
		"--set", "train.keep_best=1", "--set", "each_epoch=true")...)
}

// killedRunEqualsWhole kills a run of killSteps steps the given number of times and resumes it. args lack the run
// folder and the flags that make the run easy to watch.
func killedRunEqualsWhole(t *testing.T, kills int, args ...string) {
	t.Helper()
	whole, broken := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	in := func(dir string) []string {
		return append(slices.Clone(args), "--set", "train.checkpoint_steps=2", "--set", "train.log_steps=1", "--quiet", "-v",
			"--run-dir", dir)
	}
	cmd, want, stderr := asCommand(in(whole)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	random := rand.New(rand.NewPCG(1, 2))
	next := in(broken)
	early, late := 0, 0
	for i := range kills {
		// With many kills, every fourth comes while the process starts, the others after some steps. Any moment will do.
		e := event{Do: killsItself, After: time.Duration(1 + random.IntN(20_000_000))}
		if kills < 4 || i%4 > 0 {
			e.At, e.Nth = "msg=step", 2+killSteps/(kills+1)
		}
		cmd, _, stderr := asCommand(next...)
		cmd.Env = append(cmd.Env, e.env())
		switch err := cmd.Run(); {
		case err == nil:
			late++
		case !killedItself(stderr):
			t.Fatalf("%v: %s", err, stderr)
		case steps(broken) == 0:
			early++
		}
	}
	cmd, got, stderr := asCommand(next...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("after %d kills: %v: %s", kills, err, stderr)
	}
	if got.String() != want.String() {
		t.Errorf("the evaluation differs:\n%s\nin one piece:\n%s", got, want)
	}
	sameRuns(t, broken, whole)
	t.Logf("killed %d times, of these %d before the first step; %d had ended", kills-late, early, late)
}

const killSteps = 2 * 6 * 3 // both stages

// steps counts the steps in the logs of both stages of a run.
func steps(dir string) int {
	return logged(filepath.Join(dir, run.Stage1Folder)) + logged(dir)
}

// logged counts the steps in the log of one stage. There are none before there is a log.
func logged(dir string) int {
	log, err := os.ReadFile(filepath.Join(dir, run.LogFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err)
	}
	return bytes.Count(log, []byte(`"msg":"step"`))
}

// sameRuns holds the files of two runs to each other: all bytes, but for times in logs and pages.
func sameRuns(t *testing.T, got, want string) {
	t.Helper()
	for _, stage := range []string{run.Stage1Folder, "."} {
		a, b := filepath.Join(got, stage), filepath.Join(want, stage)
		if x, y := fileNames(t, a), fileNames(t, b); !slices.Equal(x, y) {
			t.Errorf("%s: files %v, want %v", stage, x, y)
		}
		for _, name := range fileNames(t, b) {
			switch name {
			case run.LogFile, report.HTMLFile, run.ResultFile, run.ConfigFile:
				continue // hold times, and the settings of a resumed run
			}
			if !bytes.Equal(readBytes(t, a, name), readBytes(t, b, name)) {
				t.Errorf("%s differs", filepath.Join(stage, name))
			}
		}
		if x, y := timeless(t, a), timeless(t, b); !reflect.DeepEqual(x, y) {
			t.Errorf("%s differs beyond its times:\n%v\nwant\n%v", filepath.Join(stage, run.LogFile), x, y)
		}
		if x, y := timelessOutcome(t, a), timelessOutcome(t, b); x != y {
			t.Errorf("%s differs beyond its times", filepath.Join(stage, run.ResultFile))
		}
	}
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	expect.OK(t, err)
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// timeless are the lines of the log about epochs and evaluations, without times. A continued run may log one
// again: the later line replaces the first.
func timeless(t *testing.T, dir string) (kept []map[string]any) {
	t.Helper()
	type event struct {
		message, step, epoch any
	}
	at := map[event]int{}
	for text := range bytes.Lines(readBytes(t, dir, run.LogFile)) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		e := event{line["msg"], line["step"], line["epoch"]}
		if !slices.Contains([]any{"epoch", "evaluation", "validation"}, e.message) {
			continue
		}
		maps.DeleteFunc(line, func(key string, _ any) bool { return key == "time" || strings.HasSuffix(key, "_ms") })
		if i, again := at[e]; again {
			kept[i] = line
			continue
		}
		at[e], kept = len(kept), append(kept, line)
	}
	return kept
}

// timelessOutcome is the result of a run without its duration. The last checkpoint must be of the same
// step.
func timelessOutcome(t *testing.T, dir string) string {
	t.Helper()
	o := outcomeOf(t, dir)
	if step := checkpointOf(t, dir).Position.Step; step != o.Steps {
		t.Errorf("%s: checkpoint of step %d, result of step %d", dir, step, o.Steps)
	}
	o.Seconds = 0
	return asJSON(t, o) // NaN, which equals nothing, is null there
}
