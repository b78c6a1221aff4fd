package main

import (
	"path/filepath"
	"testing"

	"nmn/internal/durable"
	"nmn/recipe"
	"nmn/run"
)

// The threshold comes from validation, and neither from a label nor from the test set.
func TestJudge_ThresholdIsThatOfValidation(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "nmn-fd")
	o, err := run.ReadOutcome(dir)
	if err != nil || o.PlugInFrom != "validation" {
		t.Fatalf("threshold from %q, %v", o.PlugInFrom, err)
	}
	own := readJSON(t, must(t, "eval", dir, "--split", "validation", "--plug-in", "0", "--json"))
	if float64(o.Evaluation.PlugIn) != own["plug_in_threshold"] {
		t.Errorf("threshold %v, that of the validation set is %v", o.Evaluation.PlugIn, own["plug_in_threshold"])
	}
	test := readJSON(t, must(t, "eval", dir, "--plug-in", "0", "--json"))
	if test["plug_in_threshold"] == own["plug_in_threshold"] {
		t.Error("validation and test have the same threshold: the test tells nothing")
	}
	if run := readJSON(t, must(t, "eval", dir, "--json")); run["plug_in_threshold"] != own["plug_in_threshold"] {
		t.Errorf("eval takes threshold %v, the run %v", run["plug_in_threshold"], own["plug_in_threshold"])
	}
	without := trained(t, "--arm", "stage1", "--set", "data.validation_size=0")
	if o, err := run.ReadOutcome(without); err != nil || o.PlugInFrom != "training" || o.Audit == nil ||
		o.Audit.From != recipe.FromOwn {
		t.Errorf("without validation: threshold from %q, audit %+v (%v)", o.PlugInFrom, o.Audit, err)
	}
}

func TestExperiment_ComparesWithAReference(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	dir := t.TempDir()
	args := tiny("experiment", "--size", "quick", "--run-dir", dir, "--arms", "baseline,nmn-fi,nmn-fd", "--seeds", "1,2",
		"--reference", "nmn-fi")
	out := must(t, args...)
	wantParts(t, out, "differences against baseline", "differences against NMN-FI", "audit P@1000", "validation",
		"own scores")
	wantUsage(t, call(t, tiny("experiment", "--size", "quick", "--run-dir", dir, "--arms", "baseline",
		"--reference", "nmn-fd")...), "--reference", "--arms nmn-fd")
}

// A loss of the classifier alone fits no arm with a noise model; that is said before anything trains.
func TestExperiment_RefusesALossForNoiseArms(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for _, size := range []string{"quick", "auto"} { // auto times real steps first
		wantUsage(t, call(t, tiny("experiment", "--size", size, "--set", "train.loss=asl", "--arms", "baseline,nmn-fd",
			"--run-dir", dir)...), "loss asl", "arm nmn-fd")
	}
	if durable.Exists(dir) {
		t.Error("something was written")
	}
}

// The time of the size that is taken is printed before anything trains: here the folder cannot be made.
func TestExperiment_PrintsHowLongItTakes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for budget, wanted := range map[string][]string{
		"1ns":   {"size    quick: takes about ", "full would take ", "--budget allows 1ns"},
		"1000h": {"size    full: takes about ", "--budget allows 1000h"},
	} {
		c := call(t, tiny("experiment", "--size", "auto", "--arms", "baseline", "--budget", budget, "--run-dir", file)...)
		for _, want := range wanted {
			wantFailure(t, c, want)
		}
	}
}
