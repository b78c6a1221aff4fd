package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

func TestTrain_DryRunListsLayersWithTheirRates(t *testing.T) {
	t.Parallel()
	plain := must(t, tiny("train", "--run-dir", t.TempDir(), "--arm", "baseline", "--dry-run")...)
	if !strings.Contains(plain, "learning rate 0.001 in all 7 layers") {
		t.Error(plain)
	}
	out := must(t, tiny("train", "--run-dir", t.TempDir(), "--arm", "baseline", "--dry-run",
		"--set", "train.layer_decay=0.5",
		"--set", "train.weight_decay=0.01", "--set", "train.freeze=[\"backbone.conv1_1.*\"]")...)
	at := func(words ...string) int {
		for i, line := range strings.Split(out, "\n") {
			if strings.Join(strings.Fields(line), " ") == strings.Join(words, " ") {
				return i
			}
		}
		t.Errorf("no line %q in:\n%s", words, out)
		return -1
	}
	last, below := at("head.fc8 weight, bias 1 0.001 0.01"), at("head.fc7 weight, bias 0.5 0.0005 0.01")
	if last+1 != below {
		t.Error("the layers do not come from the last one down")
	}
	at("backbone.conv1_1 weight, bias 0 frozen 0")
}

func TestTrain_BatchSizeAutoSaysWhatItTakes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	c := call(t, tiny("train", "--run-dir", dir, "--arm", "stage1", "--set", "train.max_steps=1", "--batch-size",
		"auto")...)
	if c.code != exitOK || !strings.Contains(c.err, "the learning rate stays 0.001") || strings.Contains(c.err, "`") {
		t.Errorf("%d: %s", c.code, c.err)
	}
	config, err := run.ReadConfig(dir)
	if err != nil || config.Train.BatchSize < 1 {
		t.Errorf("%v", err)
	}
	// The same command shows the run, whatever speed the machine has by now.
	c = succeeds(t, tiny("train", "--run-dir", dir, "--arm", "stage1", "--set", "train.max_steps=1", "--batch-size",
		"auto")...)
	wantParts(t, c.err, "is complete")
	for _, wrong := range []string{"0", "-1", "many"} {
		wantUsage(t, call(t, "train", "--batch-size", wrong), "or auto")
	}
	wantCode(t, call(t, "experiment", "--batch-size", "auto", "--run-dir", t.TempDir()), exitUsage, "--batch-size")
}

// What evaluates, scores and exports a run takes its averages; a resumed run is complete with what it has.
func TestTrain_AveragesAreWhatEverybodySees(t *testing.T) {
	t.Parallel()
	args := []string{"--arm", "nmn-fd", "--set", "recipe.form=paper", "--set", "train.optimizer=adamw", "--set",
		"train.weight_decay=0.01"}
	dir := trained(t, append(args, "--set", "train.ema=0.5")...)
	var result struct {
		Evaluation struct {
			Truth struct{ AP map[string]float64 }
		}
	}
	encoded, err := os.ReadFile(filepath.Join(dir, run.ResultFile))
	if err == nil {
		err = json.Unmarshal(encoded, &result)
	}
	expect.OK(t, err)
	var evaluated struct {
		Truth struct{ AP map[string]float64 }
	}
	expect.OK(t, json.Unmarshal([]byte(must(t, "eval", dir, "--json", "--device", "cpu")), &evaluated))
	if ap := evaluated.Truth.AP["NN"]; ap == 0 || ap != result.Evaluation.Truth.AP["NN"] {
		t.Errorf("evaluated at %v, the run at %v", evaluated.Truth.AP, result.Evaluation.Truth.AP)
	}
	page, err := os.ReadFile(filepath.Join(dir, report.HTMLFile))
	if err != nil || !strings.Contains(string(page), "averages of all steps") {
		t.Errorf("the page does not say that the weights are averages: %v", err)
	}
	for _, folder := range []string{dir, filepath.Join(dir, run.Stage1Folder)} {
		c, err := train.ReadCheckpoint(filepath.Join(folder, train.LastName))
		if err != nil || c.Config.EMA != .5 || c.Config.Optimizer != train.AdamW {
			t.Errorf("%s: %v, %v", folder, c, err)
		}
	}
	wantParts(t, succeeds(t, goOn(dir)...).err, "is complete")
}
