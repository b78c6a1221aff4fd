package main

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/durable"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

func TestRivals_InOneExperiment(t *testing.T) {
	skipShort(t, "trains many runs")
	t.Parallel()
	dir := t.TempDir()
	must(t, byRecipe("experiment", weather(t, false), "--set", "recipe.fold_epochs=4", "--set", "each_epoch=true",
		"--run-dir", dir, "-q",
		"--arms", "baseline,baseline-early,held-rates,soft-labels,forward,forward-true,asl,ll-r,ll-ct,pruned,clean")...)
	group := filepath.Join(dir, "flips-0.3-0.1", "seed-1")
	of := func(arm recipe.Name) *run.Outcome { return outcomeOf(t, filepath.Join(group, string(arm))) }
	settings := func(arm recipe.Name) *train.Checkpoint { return checkpointOf(t, filepath.Join(group, string(arm))) }
	first := settings(recipe.Stage1).Config.Stage1Epochs
	steps := of(recipe.Stage1).Steps / first
	for _, arm := range rivalArms() {
		o, epochs := of(arm), first+3
		if arm == recipe.BaselineEarly {
			epochs = first
		}
		if o.Steps != steps*epochs || len(epochRows(t, filepath.Join(group, string(arm)))) != epochs || o.Before != first {
			t.Errorf("%s: %d steps, stage 1 of %d epochs; want %d epochs of %d steps", arm, o.Steps, o.Before, epochs, steps)
		}
	}
	// Ended by folds, the baseline is stage 1 as the recipe trains it.
	if asJSON(t, of(recipe.BaselineEarly).Evaluation.Truth) == asJSON(t, of(recipe.Baseline).Evaluation.Truth) ||
		asJSON(t, of(recipe.BaselineEarly).Evaluation.Truth.AP) != asJSON(t, of(recipe.Stage1).Evaluation.Truth.AP) {
		t.Error("baseline-early is not the net that the folds would end at")
	}
	if f, n := of(recipe.Forward).Evaluation.Transition, of(recipe.HeldRates).Evaluation.Transition; asJSON(t,
		f.Q01Error) != asJSON(t, n.Q01Error) {
		t.Error("forward holds other rates than held-rates")
	}
	if e := of(recipe.ForwardTrue).Evaluation.Transition; e.Q01Error.All > 1e-6 || e.Q10Error.All > 1e-6 {
		t.Errorf("forward-true: rates off by %v and %v", e.Q01Error.All, e.Q10Error.All)
	}
	for _, arm := range []recipe.Name{recipe.ASL, recipe.LLR, recipe.LLCt} {
		if loss := settings(arm).Config.Loss; loss != train.DefaultLoss(string(arm)) {
			t.Errorf("%s: loss %+v", arm, loss)
		}
	}
	clean := of(recipe.Clean)
	if clean.Audit != nil {
		t.Error("an arm that was told the true labels is said to find the wrong ones")
	}
	if ap := clean.Evaluation.Truth.AP.All; ap <= of(recipe.Baseline).Evaluation.Truth.AP.All ||
		clean.Evaluation.Truth.Brier.All >= of(recipe.Baseline).Evaluation.Truth.Brier.All {
		t.Errorf("clean labels: AP %v is not above that of the baseline", ap)
	}
	if settings(recipe.Pruned).Data == settings(recipe.LLR).Data {
		t.Error("pruned learns from all labels")
	}
}

// With a validation set baseline-early is what the epoch with the least loss there leaves, also after an
// interruption.
func TestBaselineEarly_GoesBackToTheLeastLoss(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	settings := []string{"--arm", "baseline-early", "--epochs", "5", "--learning-rate", "0.02", "--batch-size", "8",
		"--set", "train.log_steps=1"}
	dir := trained(t, settings...)
	least, at, evaluations := math.Inf(1), 0., 0
	for _, line := range timeless(t, dir) {
		if line["msg"] != "evaluation" {
			continue
		}
		evaluations++
		if loss := line["loss"].(float64); loss < least {
			least, at = loss, line["step"].(float64)
		}
	}
	best, err := train.ReadCheckpoint(filepath.Join(dir, train.BestName))
	if err != nil || evaluations != 10 || best.Position.Step != int(at) || best.Position.Step == 10*12 {
		t.Fatalf("best at step %d of 120, of %d evaluations (%v); the least loss is at %v", best.Position.Step,
			evaluations, err, at)
	}
	if o := readJSON(t, must(t, "eval", filepath.Join(dir, train.BestName), "--json", "--plug-in", asJSON(t,
		outcomeOf(t, dir).Evaluation.PlugIn))); asJSON(t, o["truth"]) != asJSON(t,
		readJSON(t, asJSON(t, outcomeOf(t, dir).Evaluation))["truth"]) {
		t.Error("the run is not judged at its best epoch")
	}
	resumedEquals(t, dir, func(dir string) []string {
		return append(tiny("train", "--run-dir", dir), settings...)
	}, []string{""})
}

func TestRivals_RefuseWhatTheyCannotDo(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"arm forward learns through rates": {"train", "--arm", "forward", "--set", "recipe.form=paper"},
		"--noise-rates folds:5":            {"train", "--arm", "pruned", "--set", "recipe.form=estimate"},
		"held out":                         tiny("train", "--arm", "baseline-early", "--set", "data.validation_size=0"),
		"stage1 is for arms of stage 2":    tiny("train", "--arm", "clean", "--set", "stage1=x.safetensors"),
		"pruned":                           {"experiment", "--size", "quick", "--arms", "baseline,pruned"},
	} {
		wantUsage(t, call(t, append(args, "-q", "--run-dir", filepath.Join(t.TempDir(), "run"))...), want)
	}
	file, _, labels := featureData(t)
	for _, arm := range []string{"clean", "forward-true"} {
		c := call(t, "train", file, "--labels", labels, "--arm", arm, "-q", "--run-dir", filepath.Join(t.TempDir(), "run"))
		wantUsage(t, c, "arm "+arm+" needs the true labels")
	}
}

// Forward correction by online rates takes those that stage 1 has left.
func TestForward_TakesOnlineRates(t *testing.T) {
	t.Parallel()
	dir := trained(t, "--set", "recipe.form=estimate", "--arm", "forward", "--batch-size", "8")
	o := outcomeOf(t, dir)
	if first := outcomeOf(t, filepath.Join(dir, run.Stage1Folder)); o.Steps != 2*first.Steps ||
		o.Evaluation.Transition == nil {
		t.Errorf("%d steps, stage 1 has %d; rates %+v", o.Steps, first.Steps, o.Evaluation.Transition)
	}
	if !durable.Exists(filepath.Join(dir, run.RecipeFolder, recipe.RatesFile)) {
		t.Error("no rates were estimated")
	}
}

// rivalArms are those that train a net of their own.
func rivalArms() []recipe.Name {
	return slices.DeleteFunc(recipe.Names(), func(a recipe.Name) bool { return !a.Rival() })
}

// EM goes on from stage 1 for the epochs of stage 2, a round each, and finds rates of its own, not far from the true
// ones; an interrupted run ends as an unbroken one.
func TestEM_RenewsBeliefsAndRates(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	file := weather(t, false)
	args := func(dir string, more ...string) []string {
		return append(byRecipe("train", file, "-q", "--set", "recipe.form=paper", "--noise-rates", "", "--arm", "em",
			"--flips", "0.3:0.1", "--set", "train.noise.miss_rate=[0.4]", "--set", "train.noise.false_rate=[0.2]", "--run-dir",
			dir), more...)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, args(whole)...)
	baseline := filepath.Join(t.TempDir(), "baseline")
	must(t, args(baseline, "--arm", "baseline")...)
	em := outcomeOf(t, whole)
	if em.Steps*3 != outcomeOf(t, baseline).Steps {
		t.Errorf("the last round has %d steps, the baseline %d in three epochs", em.Steps, outcomeOf(t, baseline).Steps)
	}
	for _, w := range em.Evaluation.Words { // which start at .4 and .2, whatever the word
		if q01, q10 := math.Abs(float64(w.Q01-w.T01)), math.Abs(float64(w.Q10-w.T10)); !(q01 < .25 && q10 < .1) ||
			w.Q01 > .39 || w.Q10 > .19 {
			t.Errorf("%s: q01 %.3f, in truth %.3f, q10 %.3f, in truth %.3f", w.Word, w.Q01, w.T01, w.Q10, w.T10)
		}
	}
	resumedEquals(t, whole, func(dir string) []string { return args(dir, "--set", "train.log_steps=1") },
		[]string{filepath.Join(recipe.EMFolder, "round-2"), ""})
}
