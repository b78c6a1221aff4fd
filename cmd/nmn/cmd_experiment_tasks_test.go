package main

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// smallGrid is an experiment of a recipe with folds: two seeds of stage 1, the baseline, held rates and soft labels, so
// that arms share stage
// 1, folds, and folds through the noise model. Its folder comes last.
func smallGrid(file, dir string, more ...string) []string {
	return byRecipe("experiment", file, append(more, "--arms", "baseline,held-rates,soft-labels", "--seeds", "1,2",
		"--set", "recipe.fold_epochs=2", "--noise-rates", "folds:2", "--set", "train.stage1_epochs=2",
		"--set", "train.stage2_epochs=1", "--device", "cpu", "--threads", "1", "--run-dir", dir)...)
}

// plainGrid is an experiment of the paper's form.
func plainGrid(file, dir string, more ...string) []string {
	return append([]string{"experiment", file, "--set", "data.features.label_columns=[\"label_*\"]",
		"--set", "net.hidden=[16]", "--batch-size", "32", "--flips", "0.3:0.1", "--set", "recipe.form=paper",
		"--set", "train.stage1_epochs=2", "--set", "train.stage2_epochs=1", "--device", "cpu", "--threads", "1",
		"--run-dir", dir}, more...)
}

// sameExperiments holds what two experiments have left to each other: tables and page, and of all runs and recipes
// everything that has no times.
func sameExperiments(t *testing.T, got, want string) {
	t.Helper()
	list := func(dir string) (all []string) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			path, err = filepath.Rel(dir, path)
			all = append(all, path)
			return err
		})
		expect.OK(t, err)
		return all
	}
	there := list(want)
	if files := list(got); !slices.Equal(files, there) {
		t.Errorf("files %v, want %v", files, there)
		return
	}
	for _, name := range there {
		switch filepath.Base(name) {
		case run.LogFile, report.HTMLFile, run.ResultFile:
			continue // hold times
		}
		if read(t, got, name) != read(t, want, name) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestTasks_AtOnceEqualOneExperiment has processes do the tasks of an experiment at once, stage 1 first, in random
// order.
func TestTasks_AtOnceEqualOneExperiment(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	file, whole := weather(t, false), filepath.Join(t.TempDir(), "grid")
	want := must(t, smallGrid(file, whole, "-q", "--json")...)
	const processes = 3
	dir := filepath.Join(t.TempDir(), "grid")
	var list struct {
		Count int
		Tasks []struct {
			Task, After int
			Folder      string
			Complete    bool
		}
	}
	expect.OK(t, json.Unmarshal([]byte(must(t, smallGrid(file, dir, "--tasks", "--json")...)), &list))
	if list.Count != 8 || len(list.Tasks) != 8 || list.Tasks[0].After >= 0 || list.Tasks[7].After != 1 ||
		list.Tasks[7].Complete || durable.Exists(dir) {
		t.Fatalf("tasks %+v", list)
	}
	wantFailure(t, call(t, smallGrid(file, dir, "--task", "7", "-q")...), "which is not complete: do that one first")
	for _, wave := range [][]int{{0, 1}, {2, 3, 4, 5, 6, 7}} {
		order := rand.New(rand.NewPCG(uint64(processes), 0)).Perm(len(wave))
		queue := make(chan int, len(wave))
		for _, i := range order {
			queue <- wave[i]
		}
		close(queue)
		var workers sync.WaitGroup
		for range processes {
			workers.Go(func() {
				for n := range queue {
					cmd, out, stderr := asCommand(smallGrid(file, dir, "--task", strconv.Itoa(n))...)
					if err := cmd.Run(); err != nil || !strings.Contains(out.String(), list.Tasks[n].Folder) {
						t.Errorf("task %d: %v: %s %s", n, err, out, stderr)
					}
				}
			})
		}
		workers.Wait()
	}
	if got := must(t, smallGrid(file, dir, "-q", "--json", "--collect")...); got != want {
		t.Errorf("%d processes: collected\n%s\nwant\n%s", processes, got, want)
	}
	sameExperiments(t, dir, whole)
}

// TestTasks_GoOnAfterTheDead kills a task in the middle of stage 1. While it lives the same task is refused.
func TestTasks_GoOnAfterTheDead(t *testing.T) {
	t.Parallel()
	skipShort(t, "kills and restarts processes")
	file, whole, dir := weather(t, false), filepath.Join(t.TempDir(), "grid"), filepath.Join(t.TempDir(), "grid")
	args := func(dir string, more ...string) []string {
		return plainGrid(file, dir, append(more, "--set", "train.checkpoint_steps=4", "--set", "train.log_steps=1",
			"--arms", "baseline,nmn-fi", "--seeds", "1,2", "--set", "train.stage1_epochs=4")...)
	}
	must(t, args(whole, "-q")...)
	cmd, _, _ := asCommand(args(dir, "--task", "0", "-v")...)
	cmd.Env = append(cmd.Env, event{At: "msg=checkpoint", Do: hangs}.env())
	first := start(t, cmd)
	stage1 := filepath.Join(dir, "flips-0.3-0.1", "seed-1", "stage1")
	first.until("a checkpoint", func() bool { return durable.Exists(filepath.Join(stage1, train.LastName)) })
	second := call(t, args(dir, "--task", "0", "-q")...)
	if writing := "is being written by process " + strconv.Itoa(first.Process.Pid); second.code == exitOK ||
		!strings.Contains(second.err, writing) {
		t.Errorf("the same task at once: exit code %d: %s", second.code, second.err)
	}
	first.kill()
	for _, n := range []string{"0", "1", "2", "3", "4", "5"} {
		must(t, args(dir, "--task", n, "-q")...)
	}
	if text := read(t, stage1, run.LogFile); strings.Count(text, `"step":1,`) != 1 {
		t.Error("stage 1 was begun anew, and not gone on with")
	}
	must(t, args(dir, "--collect", "-q")...)
	sameExperiments(t, dir, whole)
}

func TestTasks_NumbersAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	file, dir := weather(t, false), filepath.Join(t.TempDir(), "grid")
	quick := func(more ...string) []string {
		return plainGrid(file, dir, append(more, "--arms", "baseline", "--seeds", "1,2,3")...)
	}
	for _, n := range []string{"0", "1", "3"} {
		must(t, quick("--task", n, "-q")...)
	}
	wantUsage(t, call(t, quick("--task", "6", "-q")...), "--task is 6, and the tasks are 0 to 5")
	missing := call(t, quick("--collect", "-q")...)
	if missing.code != exitFailure || missing.out != "" || !strings.Contains(missing.err, "tasks 2,4-5 ") {
		t.Errorf("exit code %d, %q; want the tasks 2,4-5 that are missing", missing.code, missing.err)
	}
	some := call(t, quick("--collect", "--partial", "--format", "csv", "-q")...)
	if some.code != exitOK || strings.Count(some.out, "\n") != 2 || !strings.Contains(some.err, "tasks 2,4-5 ") {
		t.Errorf("exit code %d, %q, %q; want a table of one arm", some.code, some.out, some.err)
	}
	if n := must(t, quick("--tasks", "--count")...); n != "6\n" {
		t.Errorf("the count is %q", n)
	}
	wantParts(t, must(t, quick("--tasks")...), "Run 0-2 first, then 3-5:")
}

func TestTasks_RefusesWhatDoesNotFit(t *testing.T) {
	for says, args := range map[string][]string{
		"one of --tasks, --task and --collect": {"--tasks", "--collect"},
		"--partial belongs to --collect":       {"--partial"},
		"--count belongs to --tasks":           {"--count"},
		"--task is -1":                         {"--task", "-1"},
		"give --size quick":                    {"--tasks", "--preset", "scenes", "--run-dir", t.TempDir()},
	} {
		wantUsage(t, call(t, append([]string{"experiment"}, args...)...), says)
	}
}
