package main

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels/inject"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// byCaptions is a command line that trains caption-filter in a second.
func byCaptions(dir string, args ...string) []string {
	return tiny("train", append([]string{"-q", "--arm", "caption-filter", "--noise", "0.4", "--batch-size", "8",
		"--run-dir", dir}, args...)...)
}

// captionsOf returns the captions in the result of a run, which its page must show too.
func captionsOf(t *testing.T, dir string) *report.FoundCaptions {
	t.Helper()
	found := outcomeOf(t, dir).Captions
	if found == nil {
		t.Fatalf("%s: nothing is told of captions", dir)
	}
	page := read(t, dir, report.HTMLFile)
	wantParts(t, page, "<h2>Captions</h2>")
	for _, line := range found.Lines() {
		wantParts(t, page, "<p>"+html.EscapeString(line)+".</p>")
	}
	return found
}

func TestCaptionsArm_FindsForeignCaptions(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	for name, args := range map[string][]string{
		"online": nil,
		"MIL":    {"--mil"},
		"folds":  {"--noise-rates", "folds:2", "--set", "recipe.fold_epochs=2", "--set", "recipe.epochs=1"},
		"clips": {"--preset", "moving-scenes", "--set", "data.frames=3", "--set", "data.train_size=48", "--mil", "--set",
			"train.batch_size_mil=8"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			must(t, byCaptions(dir, args...)...)
			found := captionsOf(t, dir)
			bags := 96
			if name == "clips" {
				bags = 48
			}
			if found.Captions != 5*bags || found.Refused != "" || found.Doubted < bags/4 {
				t.Errorf("%d captions of %d bags, %d doubted: %q", found.Captions, bags, found.Doubted, found.Refused)
			}
			if f := float64(found.Foreign); !(f > .1 && f < .6) || found.Low > found.Foreign || found.High < found.Foreign {
				t.Errorf("share %g (%g to %g), in truth 0.4", found.Foreign, found.Low, found.High)
			}
			truth := found.Truth
			if truth == nil || truth.Foreign < bags || !(truth.AUC > .7) || !(truth.Precision > .6) ||
				!(truth.ForeignKept < .36) {
				t.Errorf("against the truth: %+v", truth)
			}
			if len(found.Worst) == 0 || len(found.Rates) == 0 || found.Worst[0].Own > .1 || len(found.Worst[0].Words) == 0 {
				t.Errorf("worst captions %+v", found.Worst)
			}
			if net := checkpointOf(t, filepath.Join(dir, recipe.CaptionsFolder, "net")); net.Stage != 2 || net.Start == "" {
				t.Errorf("the net on the captions is of stage %d and starts from %q, not from stage 1", net.Stage, net.Start)
			}
			if o := outcomeOf(t, dir); len(o.RateRemarks) > 0 {
				t.Errorf("evidence is learned, and rates are held: %q", o.RateRemarks)
			}
		})
	}
}

// A run whose captions were exchanged in another way than the paper's says so in its result and on its page.
func TestCaptionsArm_NamesTheKindOfNoise(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains runs")
	dir := filepath.Join(t.TempDir(), "run")
	must(t, byCaptions(dir, "--arm", "baseline", "--set", "data.noise_kind=shift")...)
	if o := outcomeOf(t, dir); o.NoiseKind != inject.Shift {
		t.Errorf("outcome %+v; want the kind %s", o, inject.Shift)
	}
	wantParts(t, read(t, dir, report.HTMLFile), "% shift")
}

// If scores judge most captions, better ones are worth another net.
func TestCaptionsArm_JudgesTwiceByScores(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains several runs")
	dir := filepath.Join(t.TempDir(), "run")
	must(t, byCaptions(dir, "--noise", "0.8", "--set", "data.train_size=400", "--batch-size", "4")...)
	if found := captionsOf(t, dir); found.Refused != "" || !(found.Foreign >= .5) {
		t.Errorf("a share of %g is foreign, in truth 0.8: %q", found.Foreign, found.Refused)
	}
	if _, err := os.Stat(filepath.Join(dir, recipe.CaptionsFolder, "net-2", train.LastName)); err != nil {
		t.Error(err)
	}
}

// A run that is interrupted while a stage 1 learns the captions goes on to the same net and reports.
func TestCaptionsArm_InterruptedEqualsTheUnbroken(t *testing.T) {
	t.Parallel()
	skipShort(t, "interrupts runs and trains them again")
	net := filepath.Join(recipe.CaptionsFolder, "net")
	for noise, place := range map[string]string{"0.4": net, "0.8": net, "0": ""} { // without noise, stage 2 itself
		args := []string{"--noise", noise, "--set", "train.log_steps=1", "--batch-size", "4"}
		if noise == "0.8" { // fewer captions are not enough
			args = append(args, "--set", "data.train_size=400")
		}
		whole := filepath.Join(t.TempDir(), "whole")
		must(t, byCaptions(whole, args...)...)
		captionsOf(t, whole)
		resumedEquals(t, whole, func(dir string) []string { return byCaptions(dir, args...) }, []string{place})
	}
}

// The same command again trains nothing.
func TestCaptionsArm_IsReused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	first := must(t, byCaptions(dir)...)
	names := []string{train.LastName, filepath.Join(recipe.CaptionsFolder, "net", train.LastName),
		filepath.Join(run.Stage1Folder, train.LastName)}
	var before []os.FileInfo
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		expect.OK(t, err)
		before = append(before, info)
	}
	c := call(t, tiny("train", "--arm", "caption-filter", "--noise", "0.4", "--batch-size", "8", "--run-dir", dir)...)
	if c.code != exitOK || c.out != first || !strings.Contains(c.err, "nothing was trained") {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
	for i, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.ModTime().Equal(before[i].ModTime()) {
			t.Errorf("%s was written again (%v)", name, err)
		}
	}
	wantOK(t, call(t, "audit", dir, "--noise-rates", "online"), append(captionsOf(t, dir).Lines(),
		"the run shows them in "+filepath.Join(dir, report.HTMLFile))...)
}

func TestCaptionsArm_RefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	file, _, labels := featureData(t)
	for want, args := range map[string][]string{
		"recipe.captions is labels, and arm caption-filter judges captions":  {"--set", "recipe.captions=labels"},
		"arm is caption-filter, which belongs to recipe.form estimate":       {"--set", "recipe.form=paper"},
		"arm caption-filter judges captions, and the labels of scenes-train": {"--noise", "0", "--flips", "0.3:0.1"},
		"arm caption-filter judges captions": {"--set", "data.features.train.features=" + file, "--labels", labels,
			"--noise", "0"},
	} {
		args := append([]string{"train", "-q", "--arm", "caption-filter", "--device", "cpu", "--run-dir",
			filepath.Join(t.TempDir(), "run")}, args...)
		wantUsage(t, call(t, args...), want)
	}
}

// Captions that are too few to be compared are taken as they are, and the arm is held-rates.
func TestCaptionsArm_SaysWhyCaptionsAreNotJudged(t *testing.T) {
	skipShort(t, "trains several runs")
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	few := []string{"--set", "data.train_size=32"}
	c := succeeds(t, tiny("train", append([]string{"--arm", "caption-filter", "--noise", "0.4", "--batch-size", "8",
		"--run-dir", dir}, few...)...)...)
	wantParts(t, c.err, "witness Captions are used as they are: 160 captions are too few")
	found := captionsOf(t, dir)
	if !strings.Contains(found.Refused, "160 captions are too few") || found.Doubted != 0 || found.Worst != nil ||
		found.Rates != nil || found.Foreign != 0 {
		t.Errorf("%+v", found)
	}
	if truth := found.Truth; truth == nil || truth.AUC != .5 || truth.Precision.Defined() {
		t.Errorf("against the truth: %+v", truth)
	}
	other := filepath.Join(t.TempDir(), "run")
	must(t, byCaptions(other, append(few, "--arm", "held-rates")...)...)
	a, b := outcomeOf(t, dir).Evaluation, outcomeOf(t, other).Evaluation
	if asJSON(t, a.Truth) != asJSON(t, b.Truth) {
		t.Error("the net is another one than that of held-rates")
	}
}
