package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/recipe"
	"nmn/run"
)

// nmnCArgs train nmn-c on some scenes, of which a share of the captions is replaced.
func nmnCArgs(dir, noise string, more ...string) []string {
	return append(tiny("train", "--train-size", "400", "--batch-size", "16", "--arm", "nmn-c", "--nmn-recipe", "estimate",
		"--noise", noise, "-q", "--run-dir", dir), more...)
}

// Captions of other pictures are found and left out, the run says which, and an interrupted run, also while stage 1 is
// trained anew, ends as an unbroken one. The same command again shows the result.
func TestTrain_LeavesOutCaptionsOfOthers(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, nmnCArgs(whole, "0.4")...)
	found := outcomeOf(t, whole).Captions
	if found == nil || found.Refused != "" || found.Captions != 2000 || found.Dropped < 400 || found.Dropped > 1200 ||
		!(found.Foreign > .25 && found.Foreign < .6) || found.Truth == nil || !(found.Truth.AUC > .8) ||
		len(found.Worst) == 0 || len(found.Rates) == 0 {
		t.Fatalf("found %+v", found)
	}
	for _, name := range []string{"report.md", "report.html"} {
		page, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil || !bytes.Contains(page, []byte("are left out")) || !bytes.Contains(page, []byte(found.Worst[0].Bag)) {
			t.Errorf("%s does not show the captions: %v", name, err)
		}
	}
	last := weightsOf(t, whole)
	must(t, nmnCArgs(whole, "0.4")...)
	if again := weightsOf(t, whole); !bytes.Equal(again, last) {
		t.Error("a complete run was trained again")
	}
	for _, place := range []string{filepath.Join(recipe.CaptionsFolder, "net"), "."} {
		broken := filepath.Join(t.TempDir(), "broken")
		if c := interruptAfter(t, filepath.Join(broken, place),
			nmnCArgs(broken, "0.4", "--log-interval", "1")...); c.code != exitInterrupted && c.code != exitOK {
			t.Fatalf("%s: exit code %d: %s", place, c.code, c.err)
		}
		must(t, "train", "--resume", broken, "-q")
		if !bytes.Equal(weightsOf(t, broken), last) {
			t.Errorf("%s: the model differs", place)
		}
	}
}

// Where most captions are foreign, all are learned as evidence or none is left out; with folds and with MIL the arm trains
// too.
func TestTrain_CaptionsInOtherWays(t *testing.T) {
	for name, args := range map[string][]string{
		"80 %":  nmnCArgs("", "0.8"),
		"60 %":  nmnCArgs("", "0.6"),
		"folds": nmnCArgs("", "0.4", "--rates", "folds:2", "--fold-epochs", "1", "--recipe-epochs", "1"),
		"MIL":   nmnCArgs("", "0.4", "--mil"),
		"none":  nmnCArgs("", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			for i, a := range args {
				if a == "--run-dir" {
					args[i+1] = dir
				}
			}
			must(t, args...)
			o := outcomeOf(t, dir)
			if o.Captions == nil || o.Captions.Refused != "" && o.Captions.Dropped > 0 {
				t.Fatalf("found %+v", o.Captions)
			}
			if name == "none" && o.Captions.Dropped > 40 {
				t.Errorf("of captions none of which is foreign %d are left out", o.Captions.Dropped)
			}
		})
	}
}

// What the arm cannot do is refused by the names of the settings.
func TestTrain_CaptionsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	wantUsage(t, call(t, nmnCArgs(dir, "0.4", "--captions-recipe", "labels")...), "--captions-recipe", "nmn-c")
	wantUsage(t, call(t, nmnCArgs(dir, "0", "--flips", "0.3:0.1")...), "nmn-c", "do not come from captions")
	wantUsage(t, call(t, nmnCArgs(dir, "0.4", "--nmn-recipe", "paper")...), "nmn-c")
	if c := printed(t, tiny("train", "--captions-recipe", "labels")...); c.Arm != recipe.RN {
		t.Errorf("with captions as labels the arm is %s", c.Arm)
	}
	if _, err := os.Stat(filepath.Join(dir, run.ResultFile)); !os.IsNotExist(err) {
		t.Errorf("something was trained: %v", err)
	}
	if strings.Contains(must(t, "train", "--help"), "`what`") {
		t.Error("the help has backquotes")
	}
}
