package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
)

// Data may move, and commands may be called from anywhere: what counts is the content.
func TestTrain_DataThatHaveMoved(t *testing.T) {
	skipShort(t, "trains several runs")
	work := t.TempDir()
	t.Chdir(work)
	must(t, "scenes", "data", "--number", "40")
	place := func(folder string) []string {
		return []string{"--set", "data.captions=" + filepath.Join(folder, "captions_train2014.json"),
			"--images", filepath.Join(folder, "images"), "--vocab", filepath.Join(folder, "vocabulary.txt")}
	}
	args := func(dir string) []string {
		return append([]string{"train", "--run-dir", dir, "--preset", "scenes", "--set", "net.width=0.5", "--arm", "baseline",
			"--epochs", "2", "--batch-size", "4", "--set", "train.checkpoint_steps=1", "--set", "train.log_steps=1",
			"--device", "cpu", "--threads", "1"}, place("data")...)
	}
	must(t, args("whole")...)
	interruptAfter(t, "run", args("run")...)
	run := filepath.Join(work, "run")

	t.Chdir(t.TempDir()) // from any folder
	moved := filepath.Join(t.TempDir(), "elsewhere")
	expect.OK(t, os.Rename(filepath.Join(work, "data"), moved))
	c := call(t, goOn(run)...)
	wantFailure(t, c, "name their new place")
	other := filepath.Join(t.TempDir(), "other")
	must(t, "scenes", other, "--number", "40", "--seed", "9")
	wantUsage(t, call(t, append(goOn(run, place(other)...), "-q")...), "has changed since this run began")
	must(t, goOn(run, place(moved)...)...)
	if got, want := readBytes(t, filepath.Join(run, "last.safetensors")), readBytes(t,
		filepath.Join(work, "whole", "last.safetensors")); string(got) != string(want) {
		t.Error("a run whose data have moved learns something else")
	}
	for _, dir := range []string{run, filepath.Join(work, "whole")} {
		if dir != run { // complete before the data moved: its new place is noted too
			c := call(t, goOn(dir, place(moved)...)...)
			if c.code != exitOK || strings.Contains(c.err, "stage 1:") || strings.Contains(c.err, "baseline:") {
				t.Errorf("exit code %d, or trained again: %s", c.code, c.err)
			}
		}
		must(t, "eval", dir)
		must(t, "extract", dir, "--split", "test", "--output", "x.npy")
		must(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "1")
	}

	// Back where it was started, by relative paths.
	expect.OK(t, os.Rename(moved, filepath.Join(work, "data")))
	t.Chdir(work)
	must(t, goOn("run", place("data")...)...)
	t.Chdir(t.TempDir())
	must(t, "eval", run)
}

// A captioner's run goes on from any folder, too, and where its data have moved.
func TestCaptionTrain_DataThatHaveMoved(t *testing.T) {
	work := t.TempDir()
	t.Chdir(work)
	must(t, "scenes", "--moving", "--format", "concepts", "data", "--number", "24", "--frames", "4")
	settings := []string{"--epochs", "3", "--set", "train.patience=0", "--set", "train.checkpoint_steps=1", "--set",
		"train.log_steps=1"}
	must(t, captionArgs("data", "whole", settings...)...)
	interruptAfter(t, "run", captionArgs("data", "run", settings...)...)
	t.Chdir(t.TempDir()) // from any folder
	resume := func(dir, data string) called {
		return call(t, captionArgs(data, filepath.Join(work, dir), settings...)...)
	}
	wantOK(t, resume("whole", filepath.Join(work, "data")))
	moved := filepath.Join(t.TempDir(), "elsewhere")
	expect.OK(t, os.Rename(filepath.Join(work, "data"), moved))
	other := filepath.Join(t.TempDir(), "other")
	must(t, "scenes", "--moving", "--format", "concepts", other, "--number", "24", "--frames", "4", "--seed", "9")
	wantUsage(t, resume("run", other), "has changed since this run began")
	for _, dir := range []string{"run", "whole"} { // the second was complete before the data moved
		wantOK(t, resume(dir, moved))
	}
	if got, want := readBytes(t, filepath.Join(work, "run", "last.safetensors")), readBytes(t,
		filepath.Join(work, "whole", "last.safetensors")); string(got) != string(want) {
		t.Error("a captioner whose data have moved learns something else")
	}
}

// A run in a copied project uses the data of the copy. Read from another folder, a run uses the data that it was
// started with, even if a file of the same name lies there.
func TestAudit_OfACopyWithOtherData(t *testing.T) {
	work, labels := t.TempDir(), "labels.csv"
	t.Chdir(work)
	rows, of := featureRows(60)
	write(t, "x.csv", csvText("id,x1,x2", rows...))
	write(t, labels, csvText("id,cat,dog", of...))
	must(t, "train", "--run-dir", "run", "--set", "data.features.train.features=x.csv", "--labels", labels,
		"--arm", "baseline", "--epochs", "1", "--set", "net.hidden=[4]", "--device", "cpu", "--threads", "1")
	copied := t.TempDir()
	expect.OK(t, os.CopyFS(copied, os.DirFS(work)))
	t.Chdir(copied)
	audit := func(dir string) called {
		return call(t, "audit", dir, "--noise-rates", "folds:2", "--fold-epochs", "1")
	}
	content := readBytes(t, labels)
	write(t, labels, strings.Replace(string(content), ",0", ",1", 1))
	wantUsage(t, audit("run"), labels+" has changed")
	wantUsage(t, audit(filepath.Join(copied, "run")), labels+" has changed")
	wantOK(t, audit(filepath.Join(work, "run")))
}

// The weights of a backbone are found from any folder, too, and where they have moved.
func TestPredict_FindsTheBackboneFromAnyFolder(t *testing.T) {
	work := t.TempDir()
	t.Chdir(work)
	tinyVGG(t, "vgg.safetensors", 1)
	colouredPictures(t, work, 60)
	must(t, backboneRun("list.csv", "vgg.safetensors", "run", "--arm", "baseline")...)
	t.Chdir(t.TempDir())
	run := filepath.Join(work, "run")
	must(t, "predict", run, filepath.Join(work, "p000.png"))
	moved := filepath.Join(t.TempDir(), "weights.safetensors")
	expect.OK(t, os.Rename(filepath.Join(work, "vgg.safetensors"), moved))
	wantUsage(t, call(t, "predict", run, filepath.Join(work, "p000.png")), "put it back")
	must(t, goOn(run, "--backbone", moved)...)
	must(t, "predict", run, filepath.Join(work, "p000.png"))
}

// Pictures whose times alone have changed, as by a copy or a sync, are the same pictures. One that is new is not, and
// the message says what to do about it.
func TestTrain_GoesOnWithTouchedPicturesAndRefusesNewOnes(t *testing.T) {
	t.Parallel()
	tree, dir := classFolders(t, 30), filepath.Join(t.TempDir(), "run")
	args := func(epochs string) []string {
		return []string{"train", tree, "--set", "net.arch=scenes", "--set", "net.width=0.5", "--input-size", "48",
			"--arm", "stage1", "--epochs", epochs, "--batch-size", "8", "--device", "cpu", "--run-dir", dir}
	}
	must(t, args("1")...)
	past := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 30 {
		expect.OK(t, os.Chtimes(filepath.Join(tree, colours[i%3], fmt.Sprintf("%d.png", i)), past, past))
	}
	wantParts(t, succeeds(t, args("2")...).err, "stage 1: going on from step ")
	added := filepath.Join(tree, colours[0], "new.png")
	write(t, added, read(t, filepath.Join(tree, colours[0], "0.png")))
	wantUsage(t, call(t, append(args("3"), "-q")...), added+" was not there when this run began: take it away, or begin "+
		"anew: with another --run-dir, or, with nmn train and nmn caption train, by --restart")
}
