package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/recipe"
	"nmn/run"
)

// writePictures writes pictures 0.png, 1.png, ... of one colour each into a folder: red, green or blue by
// number.
func writePictures(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		picture := image.NewNRGBA(image.Rect(0, 0, 32, 24))
		for at := range 32 * 24 {
			c := color.NRGBA{A: 255, R: 40, G: 40, B: 40}
			*[]*uint8{&c.R, &c.G, &c.B}[i%3] = uint8(200 + i%50)
			picture.SetNRGBA(at%32, at/32, c)
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.png", i)))
		expect.OK(t, err)
		defer f.Close()
		expect.OK(t, png.Encode(f, picture))
	}
}

var colours = []string{"red", "green", "blue"}

// manifestOf writes n pictures and their manifest, with a header and a row for each, and returns its name.
func manifestOf(t *testing.T, n int, header string, row func(i int) string) string {
	t.Helper()
	dir := t.TempDir()
	writePictures(t, dir, n)
	lines := []string{header}
	if header == "" {
		lines = nil
	}
	for i := range n {
		lines = append(lines, row(i))
	}
	file := filepath.Join(dir, "pictures.csv")
	write(t, file, strings.Join(lines, "\n")+"\n")
	return file
}

func onManifest(file, dir string, args ...string) []string {
	return append([]string{"train", "--preset", "scenes", file, "--set", "net.width=0.5", "--batch-size", "8",
		"--epochs", "1", "--device", "cpu", "--run-dir", dir}, args...)
}

// TestTrain_OnManifest goes the whole way with a split column and the default recipe: train, evaluate,
// resume and predict. The labels of validation rows that no training row has count for nothing.
func TestTrain_OnManifest(t *testing.T) {
	t.Parallel()
	splits := []string{"train", "Training", "train", "val", "test"}
	file := manifestOf(t, 60, "path,labels,split,width", func(i int) string {
		labels := colours[i%3] + ";thing"
		if splits[i%5] == "val" {
			labels += "|late" // one name: lists with ; are not parted at |
		}
		return fmt.Sprintf("%d.png,%s,%s,32", i, labels, splits[i%5])
	})
	dir := filepath.Join(t.TempDir(), "run")
	must(t, onManifest(file, dir)...)
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Arm != recipe.HeldRates || o.Split != "test" || o.Evaluation.Bags != 12 ||
		o.Evaluation.Classes != 4 {
		t.Fatalf("outcome %+v, %v; want the arm held-rates on 12 test rows and 4 classes", o, err)
	}
	settings, err := os.ReadFile(filepath.Join(dir, run.ConfigFile))
	if err != nil || !strings.Contains(string(settings), "set: manifest") ||
		!strings.Contains(string(settings), "manifest: "+file) {
		t.Errorf("configuration %s, %v", settings, err)
	}
	wantParts(t, must(t, "eval", dir, "--split", "validation"), "AP")
	must(t, goOn(dir)...)
	words := must(t, "predict", dir, filepath.Dir(file), "--threshold", "0")
	wantParts(t, words, append([]string{"thing"}, colours...)...)
}

func TestDryRun_TellsWhatAManifestHolds(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 30, "path;labels;split;size", func(i int) string {
		labels, split := colours[i%3], "train"
		if i == 29 {
			labels, split = "red|never", "test"
		}
		return fmt.Sprintf("%d.png;%s;%s;1", i, labels, split)
	})
	out := must(t, onManifest(file, filepath.Join(t.TempDir(), "run"), "--dry-run")...)
	wantParts(t, out, "29 training, 0 validation, 1 test pictures", "3 classes", "CSV with path, labels, split",
		"not used: size", "left out: 1 label on 1 row (never)")
	vocabulary := filepath.Join(t.TempDir(), "words.txt")
	write(t, vocabulary, "red, NN, 1\ngreen, NN, 1\nblue, NN, 1\n")
	c := call(t, onManifest(file, t.TempDir(), "--dry-run", "--vocab", vocabulary)...)
	wantFailure(t, c, "line 31", `"never"`)
}

// TestTrain_OnManifestOfFrames learns clips, by shares and with flipped labels.
func TestTrain_OnManifestOfFrames(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 40, "", func(i int) string {
		return fmt.Sprintf(`{"id": "clip%d", "frames": ["%d.png", "%d.png"], "labels": [%q]}`, i, i, (i+3)%40,
			colours[i%3])
	})
	dir := filepath.Join(t.TempDir(), "run")
	args := onManifest(file, dir, "--arm", "nmn-fi", "--flips", "0.3:0.1", "--set", "data.validation_share=0.25",
		"--set", "data.test_share=0.25")
	wantParts(t, must(t, args...), "held-out clips (test)")
	o, err := run.ReadOutcome(dir)
	if err != nil || o.Split != "test" || o.Evaluation.Bags != 10 || o.Evaluation.Truth == nil {
		t.Errorf("outcome %+v, %v; want 10 test clips with true labels", o, err)
	}
	wantUsage(t, call(t, onManifest(file, t.TempDir(), "--set", "recipe.form=estimate", "--noise-rates", "folds:5")...),
		"folds of frames")
	wantUsage(t, call(t, append(args, "--noise", "0.4", "--flips", "0:0")...), "manifests have no captions")
}

// An experiment flips labels of a manifest, and reports both levels against the labels of the file.
func TestExperiment_OnManifest(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 30, "path,red,green,blue,year", func(i int) string {
		row := []string{"0", "0", "0"}
		row[i%3] = "1"
		return fmt.Sprintf("%d.png,%s,19%02d", i, strings.Join(row, ","), i)
	})
	dir := t.TempDir()
	args := []string{"experiment", "--preset", "scenes", file, "--set", "net.width=0.5", "--batch-size", "8",
		"--epochs", "1", "--device", "cpu", "--run-dir", dir, "--arms", "stage1"}
	wantFailure(t, call(t, append(args, "--flips", "0.3:0.1")...), `column "year"`, "data.features.ignore_columns")
	must(t, append(args, "--flips", "0:0,0.3:0.1", "--set", "data.features.ignore_columns=[year]")...)
	for _, level := range []string{"flips-0-0", "flips-0.3-0.1"} {
		o, err := run.ReadOutcome(filepath.Join(dir, level, "seed-1", "stage1"))
		if err != nil || o == nil || o.Evaluation.Truth == nil || o.Evaluation.Classes != 3 {
			t.Errorf("%s: outcome %+v, %v", level, o, err)
		}
	}
	wantUsage(t, call(t, append(args, "--replace-captions", "0.4")...), "manifests do not have")
}

func TestTrain_OnManifestWithoutAllPictures(t *testing.T) {
	t.Parallel()
	file := manifestOf(t, 24, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s", i, colours[i%3]) })
	for _, gone := range []string{"5.png", "7.png"} {
		expect.OK(t, os.Remove(filepath.Join(filepath.Dir(file), gone)))
	}
	allowsMissing(t, onManifest(file, "", "--arm", "stage1"),
		[]string{"2 of 24 rows", `line 7: there is no file "5.png"`, "--max-bad-samples"},
		[]string{"rows without a usable picture in ", ": 2, first", "allows 1"}, []string{"5.png", "7.png"})
}

// allowsMissing trains on data that lack two bags. --max-bad-samples allows none of them, one or both, with these
// parts of standard error.
func allowsMissing(t *testing.T, args []string, says ...[]string) {
	t.Helper()
	for allowed, parts := range says {
		c := call(t, append(args, "--run-dir", filepath.Join(t.TempDir(), "run"), "--max-bad-samples",
			fmt.Sprint(allowed))...)
		wantCode(t, c, []int{exitFailure, exitFailure, exitOK}[allowed], parts...)
	}
}

func TestPrintConfig_OfManifest(t *testing.T) {
	out := must(t, "config", "--set", "data.manifest=a.csv")
	wantParts(t, out, "preset: paper-coco", "set: manifest", "manifest: a.csv", "vocabulary_size: 100000",
		"arch: scenes", "form: estimate", "arm: held-rates")
	wantUsage(t, call(t, "train", "--set", "data.manifest=a.csv", "--set", "data.captions=b.json"), "leave out one")
	wantUsage(t, call(t, "train", "--set", "data.set=manifest"), "give data.manifest (file or folder")
}
