package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nmn/report"
	"nmn/run"
)

// labelledPictures is a manifest of pictures with two labels each.
func labelledPictures(t *testing.T, n int) string {
	t.Helper()
	return manifestOf(t, n, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,%s;thing", i, colours[i%3]) })
}

// The end of a run is one table in the user's words, where the report is, and what comes next.
func TestTrain_EndsWithOneTableAndWhatComesNext(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	c := succeeds(t, onManifest(labelledPictures(t, 60), dir)...)
	wantParts(t, c.out, "held-out pictures", "4 labels", "given labels", "AP, the mean over labels", "OF1 at θ*")
	for _, other := range []string{"bag", "word", "Observed", "p(z"} {
		if strings.Contains(c.out, other) {
			t.Errorf("the table says %q:\n%s", other, c.out)
		}
	}
	if n := strings.Count(c.out, "-----  "); n != 1 {
		t.Errorf("%d tables:\n%s", n, c.out)
	}
	page := filepath.Join(dir, report.HTMLFile)
	wantParts(t, c.err, "report  "+page, "nmn predict "+dir+" FILES", "nmn audit "+dir)
	if text := read(t, page); strings.Contains(text, "bags and") || !strings.Contains(text, "pictures, 4 labels") {
		t.Error("the page counts no pictures and labels")
	}
}

// A run that has learned everything there is says that it was not measured, wherever measures stand.
func TestTrain_WithoutHeldOutPicturesIsNotMeasured(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	file := labelledPictures(t, 30)
	args := onManifest(file, dir, "--set", "data.validation_share=0", "--set", "data.test_share=0")
	out := must(t, args...)
	if strings.Count(out, "\n") != 1 || !strings.Contains(out, "not measured: nothing was held out from training") {
		t.Errorf("said %q", out)
	}
	o, err := run.ReadOutcome(dir)
	if err != nil || o.NotMeasured == "" || o.Evaluation.Measured() || o.Evaluation.Observed != nil ||
		o.Evaluation.PlugIn <= 0 || o.Evaluation.Words[0].Labels != nil {
		t.Fatalf("outcome %+v, %v", o, err)
	}
	r := readJSON(t, must(t, append(args, "--json")...))
	if r["not_measured"] == nil || r["evaluation"].(map[string]any)["labels"] != nil {
		t.Errorf("--json writes %v", r["evaluation"])
	}
	page := read(t, filepath.Join(dir, report.HTMLFile))
	if !strings.Contains(page, "There are no measures: nothing was held out") ||
		strings.Contains(page, "Precision and recall") {
		t.Error("the page has measures")
	}
	must(t, "predict", dir, filepath.Join(filepath.Dir(file), "1.png")) // by the threshold of training
}

// One test picture, or one class, ranks nothing: an AP of 100 would say that all is well.
func TestTrain_WhatCannotBeRankedIsNotMeasured(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"one test picture": manifestOf(t, 30, "path,labels,split", func(i int) string {
			return fmt.Sprintf("%d.png,%s,%s", i, colours[i%3], map[bool]string{true: "test", false: "train"}[i == 0])
		}),
		"one class": manifestOf(t, 30, "path,labels", func(i int) string { return fmt.Sprintf("%d.png,thing", i) }),
	} {
		dir := filepath.Join(t.TempDir(), "run")
		c := call(t, onManifest(file, dir, "--arm", "stage1")...)
		if c.code != exitOK || strings.Count(c.out, "\n") != 1 ||
			!strings.Contains(c.out, "not measured: each label is on all or on none of what is measured (") {
			t.Errorf("%s: exit code %d, %s%s", name, c.code, c.err, c.out)
		}
		if o, err := run.ReadOutcome(dir); err != nil || o.Evaluation.Measured() {
			t.Errorf("%s: outcome %+v, %v", name, o, err)
		}
		wantParts(t, succeeds(t, "eval", dir).err, "shows nothing: each label is on all")
	}
}

// A run folder that cannot be written is found before data are read.
func TestTrain_RunFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := labelledPictures(t, 30)
	c := call(t, onManifest(file, filepath.Join(file, "below", "run"))...)
	if c.code != exitFailure || strings.Count(c.err, "\n") != 1 || !strings.Contains(c.err, "cannot write in ") {
		t.Errorf("exit code %d, %s", c.code, c.err)
	}
}
