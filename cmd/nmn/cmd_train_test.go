package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/report"
	"nmn/run"
	runpage "nmn/run/page"
	"nmn/train"
)

// trained runs a tiny training into a new folder.
func trained(t *testing.T, args ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	must(t, append(tiny("train", "--run-dir", dir), args...)...)
	return dir
}

// trainedOnce has a folder of a run for each arm that trainedArm has trained.
var trainedOnce struct {
	sync.Mutex
	folders map[string]string
}

// trainedArm returns a copy of what trained leaves of an arm with no other settings, which it runs only once.
func trainedArm(t *testing.T, arm string) (dir string) {
	t.Helper()
	trainedOnce.Lock()
	defer trainedOnce.Unlock()
	if trainedOnce.folders[arm] == "" {
		folder, err := os.MkdirTemp("", "nmn-trained")
		expect.OK(t, err)
		must(t, tiny("train", "--run-dir", filepath.Join(folder, "run"), "--arm", arm)...)
		if trainedOnce.folders == nil {
			trainedOnce.folders = map[string]string{}
		}
		trainedOnce.folders[arm] = folder
	}
	dir = t.TempDir()
	expect.OK(t, os.CopyFS(dir, os.DirFS(trainedOnce.folders[arm])))
	return filepath.Join(dir, "run")
}

func TestTrain_RunFolderHoldsEverything(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fd")
	for _, folder := range []string{dir, filepath.Join(dir, run.Stage1Folder)} {
		for _, name := range []string{run.ConfigFile, run.LogFile, train.LastName, train.BestName, report.HTMLFile,
			run.VocabularyFile, run.ResultFile} {
			if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	rates, err := os.ReadFile(filepath.Join(dir, "q.csv"))
	if err != nil || strings.Count(string(rates), "\n") != 37 {
		t.Errorf("q.csv: %v, %d lines, want a header and 36 words", err, strings.Count(string(rates), "\n"))
	}
	c, err := run.ReadConfig(dir)
	if err != nil || c.Build == nil || c.Build.Go == "" || c.Data.TrainSize != 96 || c.Run.Precision != tensor.FP32 {
		t.Errorf("configuration %+v, %v", c, err)
	}
	log := readBytes(t, filepath.Join(dir, run.LogFile))
	for i, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("line %d of the log: %v", i+1, err)
		}
		if i == 0 && entry["data.noise"] != "0.4" {
			t.Errorf("the log starts with %v, want the configuration", entry)
		}
	}
}

func TestTrain_JSONAndTextGoToStandardOutputAlone(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "stage1")
	c := call(t, tiny("train", "--arm", "stage1", "--run-dir", dir, "--json", "--quiet")...)
	v := readJSON(t, c.out)
	if v["arm"] != "stage1" || v["split"] != "test" || v["evaluation"] == nil ||
		c.err != dir+" is complete; its results are shown, nothing was trained\n" {
		t.Errorf("result %.200s, standard error %q", c.out, c.err)
	}
	if shown, err := run.ReadShown(dir); v["shown"] != nil || err != nil || shown == nil || len(shown.Drawn) == 0 {
		t.Errorf("what an experiment shows of the run: %v on standard output, %+v in the folder (%v)", v["shown"], shown, err)
	}
}

// interruptAfter runs a command line until the log of a folder has a step, then ends the context as a signal does,
// which must end the program. The log is looked at while the program writes its messages, one for each step, so
// that however short a stage is, it has not ended by then.
func interruptAfter(t *testing.T, dir string, args ...string) called {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := callTo(ctx, func([]byte) {
		if logged(dir) > 0 {
			cancel()
		}
	}, append(args, "-v")...)
	if c.code != exitInterrupted {
		t.Fatalf("%s: exit code %d: %s", dir, c.code, c.err)
	}
	return c
}

func TestTrain_InterruptedAndResumedEqualsUnbroken(t *testing.T) {
	t.Parallel()
	settings := []string{"--arm", "baseline", "--batch-size", "4", "--set", "train.log_steps=1", "--epochs", "3"}
	resumedEquals(t, trained(t, settings...), func(dir string) []string {
		return append(tiny("train", "--run-dir", dir), settings...)
	}, []string{run.Stage1Folder, ""}, train.LastName)
}

// resumedEquals interrupts a training in folders of its run, one at a time, and continues it by the same command. Its
// result, which depends on every bit of the weights, and some files must equal the files of a whole run.
func resumedEquals(t *testing.T, whole string, args func(dir string) []string, places []string, files ...string) {
	t.Helper()
	for _, place := range places {
		dir := filepath.Join(t.TempDir(), "broken")
		wantParts(t, interruptAfter(t, filepath.Join(dir, place), args(dir)...).err, "run the same command again to continue")
		if there, err := run.ReadOutcome(dir); err != nil || there != nil {
			t.Errorf("%q: an interrupted run has the result %v, %v", place, there, err)
		}
		must(t, args(dir)...)
		for _, name := range files {
			if !bytes.Equal(readBytes(t, whole, name), readBytes(t, dir, name)) {
				t.Errorf("%q: %s differs from that of the unbroken run", place, name)
			}
		}
		if a, b := readResult(t, whole), readResult(t, dir); a != b {
			t.Errorf("%q: results differ: %.200s and %.200s", place, a, b)
		}
	}
}

// readResult returns what a run has found: its evaluation, and how it judges captions.
func readResult(t *testing.T, dir string) string {
	t.Helper()
	o := outcomeOf(t, dir)
	return asJSON(t, []any{o.Evaluation, o.Captions})
}

func TestTrain_ThreadsAndWorkersChangeNothing(t *testing.T) {
	t.Parallel()
	a := trained(t, "--arm", "stage1", "--threads", "1", "--set", "run.workers=1")
	b := trained(t, "--arm", "stage1", "--threads", "3", "--set", "run.workers=3")
	if !bytes.Equal(readBytes(t, a, train.LastName), readBytes(t, b, train.LastName)) {
		t.Error("checkpoints differ")
	}
}

func TestTrain_ResumeForLongerAndRefusesOtherSettings(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "stage1")
	wantUsage(t, call(t, goOn(dir, "--learning-rate", "0.1")...), "train.learning_rate is 0.001", "0.1", "--run-dir")
	wantUsage(t, call(t, goOn(dir, "--set", "run.conv_exact=true")...), "run.conv_exact")
	out := readJSON(t, must(t, goOn(dir, "--set", "train.stage1_epochs=2", "--json")...))
	if out["steps"] != 6. {
		t.Errorf("%v steps, want those of two epochs of 96 pictures", out["steps"])
	}
}

func TestTrain_StartsFromAGivenStage1(t *testing.T) {
	skipShort(t, "trains several runs")
	t.Parallel()
	first := trainedArm(t, "stage1")
	dir := filepath.Join(t.TempDir(), "baseline")
	must(t, tiny("train", "--arm", "baseline", "--set", "stage1="+filepath.Join(first, train.LastName),
		"--run-dir", dir)...)
	if durable.Exists(filepath.Join(dir, run.Stage1Folder)) {
		t.Error("stage 1 was trained again")
	}
	whole := trainedArm(t, "baseline")
	if !bytes.Equal(readBytes(t, whole, train.LastName), readBytes(t, dir, train.LastName)) {
		t.Error("not the checkpoint of a run that trains stage 1 itself")
	}
}

func TestTrain_DryRunWritesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	out := must(t, tiny("train", "--run-dir", dir, "--dry-run")...)
	wantParts(t, out, "stage1", "caption-filter", "parameters", "GFLOP", "steps", "device",
		"\nrecipe      noise rates come from the first epoch of stage 1")
	if i, j := strings.Index(out, "device"), strings.Index(out, "images/s"); i < 0 || i > j {
		t.Errorf("what is known before the steps does not come first:\n%s", out)
	}
	if durable.Exists(dir) {
		t.Error("a folder was made")
	}
}

// TestTrain_VGG16AtRandomStaysFiniteAtThePapersRate: pixels that are not divided by their deviation make
// He's start some sixty times too wide for it, and the loss exceeds 500.
func TestTrain_VGG16AtRandomStaysFiniteAtThePapersRate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	c := call(t, "train", "--set", "data.train_size=160", "--set", "data.validation_size=0", "--set", "data.test_size=16",
		"--arm", "stage1", "--net", "vgg16", "--set", "net.width=0.125", "--input-size", "64", "--set", "net.fc6_kernel=2",
		"--set", "train.optimizer=sgd", "--learning-rate", "1.5e-4", "--set", "train.learning_rates="+
			"[{pattern: \"head.fc8.weight\", multiplier: 10}, {pattern: \"head.fc8.bias\", multiplier: 20}]",
		"--epochs", "1", "--set", "train.log_steps=1", "--run-dir", dir)
	wantParts(t, c.err, "random weights")
	curve, _, err := run.ReadCurve(filepath.Join(dir, run.LogFile), "stage1")
	if err != nil || len(curve) == 0 {
		t.Fatalf("%v, exit code %d: %s", err, c.code, c.err)
	}
	for _, point := range curve {
		if point.Loss.Defined() && point.Loss > 150 {
			t.Errorf("step %d has loss %v", point.Step, point.Loss)
		}
	}
}

func TestPercent_UndefinedFigureIsADash(t *testing.T) {
	if a, b := percent(eval.Undefined()), percent(.1234); a != "–" || b != "12.34 %" {
		t.Errorf("%q and %q", a, b)
	}
}

// A folder of another run is refused, and --restart removes that run: it deletes the files of the run, keeps
// other files, and gives the results of a run in a new folder. A mistake in the call deletes nothing.
func TestTrain_RestartRemovesTheRunThatIsThere(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	dir := trained(t, "--arm", "caption-filter")
	write(t, filepath.Join(dir, "notes.txt"), "mine")
	args := func(dir string, more ...string) []string {
		return append(tiny("train", "--arm", "stage1", "--seed", "7", "--run-dir", dir), more...)
	}
	wantUsage(t, call(t, args(dir)...), "holds another run: its arm is caption-filter, this one's stage1", "--restart")
	before := readBytes(t, dir, train.LastName)
	wantUsage(t, call(t, args(dir, "--restart", "--learning-rate", "-1")...), "--learning-rate")
	wantCode(t, call(t, args(dir, "--restart", "--init", "absent.safetensors")...), exitUsage)
	must(t, args(dir, "--restart", "--dry-run")...)
	if !bytes.Equal(readBytes(t, dir, train.LastName), before) {
		t.Fatal("a command that has not begun has touched the run")
	}
	must(t, args(dir, "--restart")...)
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, args(whole)...)
	if !bytes.Equal(readBytes(t, dir, train.LastName), readBytes(t, whole, train.LastName)) {
		t.Error("a run that was begun again differs from one in a new folder")
	}
	names := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		expect.OK(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	got, want := names(dir), append(names(whole), "notes.txt")
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// --restart removes only what a run has written: nothing next to the configuration of another program, and nothing in a
// user's own folders that have the names of a run's folders.
func TestTrain_RestartLeavesWhatIsSomebodyElses(t *testing.T) {
	t.Parallel()
	args := func(dir string, more ...string) []string {
		return append(tiny("train", "--arm", "stage1", "--restart", "--run-dir", dir), more...)
	}
	kept := func(dir string, names ...string) {
		t.Helper()
		for _, name := range names {
			if got := read(t, dir, name); got != "mine: 1\n" {
				t.Errorf("%s holds %q", name, got)
			}
		}
	}
	mine := func(dir string, names ...string) {
		for _, name := range names {
			expect.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
			write(t, filepath.Join(dir, name), "mine: 1\n")
		}
	}
	below := []string{"captions/labels.csv", "recipe/config.yaml", "em/notes.txt", "tensorboard/notes.txt",
		"stage1/config.yaml"}
	foreign := t.TempDir()
	mine(foreign, append(below, "config.yaml", "log.jsonl")...)
	if c := call(t, args(foreign)...); c.code == exitOK {
		t.Error("a folder with a configuration of another program was taken")
	}
	kept(foreign, append(below, "config.yaml", "log.jsonl")...)

	dir := trained(t, "--arm", "stage1")
	mine(dir, below...)
	must(t, args(dir, "--seed", "7")...)
	kept(dir, below...)
}

func TestTrain_WritesForTensorBoardOnRequest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "stage1", "--run-dir", dir, "--set", "run.tensorboard=true", "-q")...)
	files, err := filepath.Glob(filepath.Join(dir, run.TensorBoardFolder, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("event files %v, %v", files, err)
	}
	content := readBytes(t, files[0])
	wantParts(t, string(content), "train/loss", "against true labels/all classes", "surest mistakes/1")
}

// The page of a run shows bags with their pictures and loads nothing.
func TestTrain_PageShowsBagsAndLoadsNothing(t *testing.T) {
	t.Parallel()
	page := read(t, trainedArm(t, "nmn-fi"), report.HTMLFile)
	pictures := strings.Count(page, `<img src="data:image/jpeg;base64,`)
	cards, beside := strings.Count(page, `<article class="card">`), strings.Count(page, `<article class="says">`)
	if cards == 0 || cards > 2*runpage.Bags || beside != runpage.ComparedByChance+runpage.ComparedApart ||
		pictures != cards+beside {
		t.Errorf("%d pictures on %d cards and beside the words of two arms on %d", pictures, cards, beside)
	}
	wantParts(t, page, "Next to the net that it started from", "<h3>stage 1</h3>", "<h3>NMN-FI, informed start</h3>",
		"Training", "Precision and recall", "Noise of the labels", "true labels of the test set", "scenes-test-",
		"Configuration")
	if strings.Contains(page, "://") {
		t.Error("the page names another place")
	}
}

// The speed is that of the pictures that were in the step that was timed.
func TestMeasuredText_CountsThePicturesOfTheStep(t *testing.T) {
	w := run.Workload{Pictures: 32, FLOP: 32e9}
	full := run.Measured{Step: 2 * time.Second, Bags: 32, Images: 32, Batch: 32, Mean: 16.5, Steps: 10}
	if got := measuredText(full, w); !strings.Contains(got, "(16 images/s, 16.0 GFLOP/s): about 10s") ||
		strings.Contains(got, "full batch") {
		t.Errorf("of a full batch: %s", got)
	}
	few := run.Measured{Step: 2 * time.Second, Bags: 1, Images: 1, Batch: 32, Mean: 1, Steps: 10}
	w.Pictures, w.FLOP = 1, 1e9
	if got := measuredText(few, w); !strings.Contains(got, "(0.5 images/s, 0.5 GFLOP/s): about 20s") ||
		!strings.Contains(got, "no full batch of 32: steps of at most 1 were timed") {
		t.Errorf("of one picture: %s", got)
	}
}

func TestTrain_RatesFromFile(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fi")
	again := trained(t, "--arm", "nmn-fi", "--noise-rates", filepath.Join(dir, "q.csv"),
		"--set", "train.noise.frozen=true")
	x, y := readCSV(t, read(t, dir, "q.csv")), readCSV(t, read(t, again, "q.csv"))
	for i := range x {
		if x[i][0] != y[i][0] || len(x[i][2]) > 5 && x[i][2][:5] != y[i][2][:5] {
			t.Errorf("line %d: %v became %v", i+1, x[i], y[i])
		}
	}
}
