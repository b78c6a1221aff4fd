package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	runaudit "nmn/run/audit"
)

// classFolders is a folder with a folder of pictures for each of three classes.
func classFolders(t *testing.T, n int) string {
	t.Helper()
	dir, from := t.TempDir(), t.TempDir()
	writePictures(t, from, n)
	for i := range n {
		to := filepath.Join(dir, colours[i%3])
		expect.OK(t, os.MkdirAll(to, 0o755))
		name := fmt.Sprintf("%d.png", i)
		expect.OK(t, os.Rename(filepath.Join(from, name), filepath.Join(to, name)))
	}
	return dir
}

func onFolders(folders, dir string, more ...string) []string {
	return append([]string{"train", "--images", folders, "--preset", "scenes", "--set", "net.width=0.5",
		"--batch-size", "8", "--epochs", "2", "--device", "cpu", "--run-dir", dir}, more...)
}

// Folders of classes are found by themselves, and the whole way works: train, report, predict, evaluate, audit and
// a second run of the same command.
func TestClasses_OfFolders(t *testing.T) {
	t.Parallel()
	folders, dir := classFolders(t, 90), filepath.Join(t.TempDir(), "run")
	c := succeeds(t, onFolders(folders, dir, "--set", "noise_rates=folds:2", "--set", "recipe.fold_epochs=2")...)
	wantParts(t, c.out, "3 classes", "accuracy", "balanced accuracy", "log loss")
	if strings.Contains(c.out, "OF1") || strings.Contains(c.out, "top-5") {
		t.Errorf("the table has measures of several labels:\n%s", c.out)
	}
	config, err := run.FinishedConfig(dir)
	if err != nil || config.Data.Classes != dataset.Exclusive || config.Arm != recipe.HeldRates {
		t.Errorf("classes %q, arm %q, %v", config.Data.Classes, config.Arm, err)
	}
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Evaluation.Labels.OneClass == nil || len(o.Transition) != 3 {
		t.Fatalf("outcome %+v, %v", o, err)
	}
	if page := read(t, filepath.Join(dir, report.HTMLFile)); strings.Contains(page, "q01") ||
		!strings.Contains(page, "Which class is predicted") ||
		!strings.Contains(page, "How classes are labelled") || strings.Contains(page, "OF1") ||
		!strings.Contains(page, "The most probable class, in percent") || strings.Contains(page, "p ≥ 0.5") {
		t.Error("the page lacks the classes, or has F1")
	}
	rows := readCSV(t, must(t, "predict", dir, folders, "--format", "csv"))
	if len(rows) != 91 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows[1:] {
		sum := 0.0
		for _, field := range row[1:] {
			p, err := strconv.ParseFloat(field, 64)
			expect.OK(t, err)
			sum += p
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Errorf("the probabilities of %s sum to %v", row[0], sum)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(must(t, "predict", dir, folders)), "\n") {
		if strings.Count(line, ",") > 0 {
			t.Errorf("several classes are predicted: %q", line)
		}
	}
	wantParts(t, must(t, "eval", dir), "accuracy")
	audited := readJSON(t, must(t, "audit", dir, "--json"))
	if audited["form"] != "classes" {
		t.Errorf("the audit is of the form %v", audited["form"])
	}
	again := call(t, onFolders(folders, dir, "--set", "noise_rates=folds:2", "--set", "recipe.fold_epochs=2")...)
	if again.code != exitOK || !strings.Contains(again.err, "is complete") || again.out != c.out {
		t.Errorf("again: %s\n%s", again.err, again.out)
	}
}

// auditedFolders is a run on folders of classes with noise, and the training pictures that its folds have scored, with
// their labels.
func auditedFolders(t *testing.T) (dir string, ids []string, given map[string]string) {
	t.Helper()
	folders, dir := classFolders(t, 60), filepath.Join(t.TempDir(), "run")
	must(t, onFolders(folders, dir, "--set", "noise_rates=folds:2", "--set", "recipe.fold_epochs=1", "--set",
		"data.noise=0.3", "--set", "data.noise_kind=symmetric")...)
	rows := readCSV(t, read(t, dir, run.RecipeFolder, recipe.LabelsFile))
	given = map[string]string{}
	for _, row := range rows[1:] {
		ids, given[row[0]] = append(ids, row[0]), row[1]
	}
	return dir, ids, given
}

// The page has a suspect for each picture that the list of suspects gives another class, with its picture.
func TestAuditRun_WritesThePageOfClasses(t *testing.T) {
	t.Parallel()
	dir, ids, _ := auditedFolders(t)
	list := filepath.Join(t.TempDir(), "suspects.csv")
	c := succeeds(t, "audit", dir, "--min-error", "0", "--suspects", list)
	wantParts(t, c.err, "review the page, save decisions.csv, then nmn audit")
	rows := readCSV(t, read(t, list))
	if len(rows) != len(ids)+1 {
		t.Fatalf("%d suspects of %d pictures", len(rows)-1, len(ids))
	}
	suggested := 0
	for _, row := range rows[1:] {
		if row[1] != row[2] {
			suggested++
		}
	}
	page := read(t, filepath.Join(dir, runaudit.Folder, "audit.html"))
	if n := strings.Count(page, `"suggested":`); n != suggested || n == 0 ||
		strings.Count(page, `"data:image/jpeg;base64,`) != n {
		t.Errorf("%d items on the page, %d pictures, and %d suspects with another class", n,
			strings.Count(page, `"data:image/jpeg;base64,`), suggested)
	}
	if strings.Contains(page, "Kind of error") {
		t.Error("the page has kinds of errors")
	}
}

// A decision replaces the class in the form of the data, and one for other labels is refused.
func TestAuditRun_WritesDecisionsOnClasses(t *testing.T) {
	t.Parallel()
	dir, ids, given := auditedFolders(t)
	other := colours[0]
	if given[ids[0]] == other {
		other = colours[1]
	}
	decisions, fixed := filepath.Join(t.TempDir(), "decisions.csv"), filepath.Join(t.TempDir(), "fixed.csv")
	decide := func(given, verdict string) called {
		write(t, decisions, fmt.Sprintf("id,given,suggested,decision\n%s,%s,%s,%s\n", ids[0], given, other, verdict))
		return call(t, "audit", dir, "--decisions", decisions, "--output", fixed)
	}
	wantFailure(t, decide(other, "reject"), "decisions.csv:2", "the decision is for other labels")
	if c := decide(given[ids[0]], "accept"); c.code != exitOK || !strings.Contains(c.err, "a new manifest") {
		t.Fatalf("exit code %d, %s", c.code, c.err)
	}
	if got := read(t, fixed); !strings.Contains(got, fmt.Sprintf("\n%s,%s,train\n", ids[0], other)) {
		t.Errorf("%s is not %s in\n%s", ids[0], other, got)
	}
	changes := read(t, strings.TrimSuffix(fixed, ".csv")+".changes.csv")
	if strings.Count(changes, "\n") != 2 || !strings.Contains(changes, ids[0]+","+given[ids[0]]+","+other+",") ||
		!strings.Contains(changes, ",accepted,") {
		t.Errorf("the record of changes is\n%s", changes)
	}
	learns(t, fixed)
	if c := decide(given[ids[0]], "reject"); c.code != exitOK || strings.Count(read(t,
		strings.TrimSuffix(fixed, ".csv")+".changes.csv"), "\n") != 1 {
		t.Errorf("a rejected suspect is changed: exit code %d, %s", c.code, c.err)
	}
}

func TestClasses_DryRunTellsTheDecision(t *testing.T) {
	t.Parallel()
	folders := classFolders(t, 60)
	dir := filepath.Join(t.TempDir(), "run")
	out := must(t, append(onFolders(folders, dir), "--dry-run")...)
	wantParts(t, out, "data.classes = exclusive: each row has exactly one label", "arm = held-rates",
		"noise_rates = folds:2")
	for _, of := range []struct{ arm, want string }{{"nmn-fd", "data.classes = multi: arm nmn-fd is for"},
		{"baseline", "data.classes = exclusive"}} {
		wantParts(t, must(t, append(onFolders(folders, dir, "--arm", of.arm), "--dry-run")...), of.want)
	}
	if out := must(t, append(onFolders(folders, dir, "--mil"), "--dry-run")...); !strings.Contains(out,
		"data.classes = multi: `net.mil` is for classes") && !strings.Contains(out, "data.classes = multi: --mil is for") {
		t.Errorf("with MIL: %s", out)
	}
	if out := must(t, append(onFolders(folders, dir, "--set", "data.classes=multi"), "--dry-run")...); strings.Contains(
		out, "exclusive") {
		t.Errorf("multi: %s", out)
	}
	two := labelledPictures(t, 60)
	if out := must(t, append(onManifest(two, dir), "--dry-run")...); strings.Contains(out, "data.classes") {
		t.Errorf("two labels by default: %s", out)
	}
	wantParts(t, must(t, append(onManifest(two, dir, "--set", "data.classes=auto"), "--dry-run")...),
		"data.classes = multi: row 1 of", "has 2 labels")
}

func TestClasses_WhatDoesNotGoWithThemIsRefused(t *testing.T) {
	t.Parallel()
	folders, dir := classFolders(t, 60), filepath.Join(t.TempDir(), "run")
	exclusive := func(more ...string) []string {
		return append(onFolders(folders, dir, "--set", "data.classes=exclusive"), more...)
	}
	wantUsage(t, call(t, exclusive("--arm", "nmn-fd")...), "arm nmn-fd is for classes that do not exclude each other",
		"baseline", "held-rates")
	wantUsage(t, call(t, exclusive("--mil", "--arm", "baseline")...), "for classes that do not exclude each other")
	wantUsage(t, call(t, exclusive("--arm", "baseline", "--set", "train.loss.kind=asl", "--set",
		"train.loss.gamma_negative=2")...), "loss asl is for classes that do not exclude each other")
	wantUsage(t, call(t, onManifest(labelledPictures(t, 60), dir, "--set", "data.classes=exclusive")...), "has 2 labels",
		"data.classes")
	wantUsage(t, call(t, tiny("train", "--set", "data.noise_kind=symmetric")...), "data.classes")
}

// A run that is killed and goes on equals one in one piece.
func TestClasses_KilledRunEqualsWhole(t *testing.T) {
	t.Parallel()
	skipShort(t, "kills and restarts processes")
	killedRunEqualsWhole(t, 3, tiny("train", "--set", "data.classes=exclusive", "--arm", "held-rates", "--set",
		"train.stage1_epochs=6", "--set", "train.stage2_epochs=6")...)
}

// Classes of folders exclude each other for a net on features of a backbone too.
func TestClasses_OfFoldersWithABackbone(t *testing.T) {
	t.Parallel()
	folders, dir := classFolders(t, 90), filepath.Join(t.TempDir(), "run")
	out := must(t, "train", "--images", folders, "--backbone", filepath.Join(transformers, "hf_clip.safetensors"), "--set",
		"net.backbone_heads=3", "--set", "net.hidden=[]", "--set", "train.stage1_epochs=2", "--set", "recipe.fold_epochs=2",
		"--device", "cpu", "--run-dir", dir)
	wantParts(t, out, "3 classes", "accuracy", "balanced accuracy")
	c, err := run.ReadConfig(dir)
	if err != nil || c.Data.Classes != "exclusive" || c.Arm != "held-rates" || c.NoiseRates != "folds:5" {
		t.Fatalf("classes are %q, the arm is %s and rates are from %s, %v", c.Data.Classes, c.Arm, c.NoiseRates, err)
	}
	rows := readCSV(t, must(t, "predict", dir, folders, "--format", "csv"))
	if len(rows) != 91 {
		t.Fatalf("%d rows", len(rows))
	}
	wantParts(t, must(t, "audit", dir, "--top", "3"), "suggested")
}
