package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/rng"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"
)

// annotator sees a share of the bags. It recognises the words from first to last, giving true and false labels with two
// probabilities, and guesses the other words.
type annotator struct {
	sensitivity, specificity, share float64
	first, last                     int
}

// of are its sensitivity and specificity for a word.
func (a annotator) of(word int) (sensitivity, specificity float64) {
	if word < a.first || word > a.last {
		return .4, .6
	}
	return a.sensitivity, a.specificity
}

// says draws the labels of a bag.
func (a annotator) says(s *rng.Stream, truth []string) []bool {
	list := make([]bool, len(truth))
	for k, z := range truth {
		sensitivity, specificity := a.of(k)
		chance := 1 - specificity
		if z == "1" {
			chance = sensitivity
		}
		list[k] = s.Float64() < chance
	}
	return list
}

// witnessed has two annotators label the training rows of weather. It returns the rows with the labels of the first
// annotator, and the evidence of both as a file, which names its rows or has them in order.
func witnessed(t *testing.T, named bool) (features, evidence string) {
	t.Helper()
	people := []annotator{{.7, .9, 1, 0, 2}, {.8, .8, .9, 2, 4}}
	data := readBytes(t, weather(t, false))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var ev strings.Builder
	if named {
		ev.WriteString("id,")
	}
	ev.WriteString("label_hot,label_dry,label_windy,label_cold,label_wet\n")
	for i, line := range lines[1:] {
		cells := strings.Split(line, ",")
		truth := slices.Clone(cells[10:15])
		sums := make([]float64, len(truth))
		s := rng.New(rng.Derive(1, "annotators"), i)
		for who, a := range people {
			said := a.says(&s, truth)
			if s.Float64() >= a.share {
				continue
			}
			for k, yes := range said {
				sensitivity, specificity := a.of(k)
				if yes {
					sums[k] += math.Log(sensitivity / (1 - specificity))
				} else {
					sums[k] += math.Log((1 - sensitivity) / specificity)
				}
				if who == 0 && cells[15] == "train" {
					cells[10+k] = map[bool]string{true: "1", false: "0"}[yes]
				}
			}
		}
		lines[i+1] = strings.Join(cells, ",")
		if named && cells[15] == "test" {
			continue
		}
		if named {
			fmt.Fprintf(&ev, "%d,", i+1)
		}
		for k, v := range sums {
			fmt.Fprintf(&ev, "%.6g%s", v, map[bool]string{true: "\n", false: ","}[k == len(sums)-1])
		}
	}
	dir := t.TempDir()
	features, evidence = filepath.Join(dir, "annotated.csv"), filepath.Join(dir, "evidence.csv")
	for path, text := range map[string]string{features: strings.Join(lines, "\n") + "\n", evidence: ev.String()} {
		write(t, path, text)
	}
	return features, evidence
}

// byEvidence is a command line on such files that takes a moment.
func byEvidence(features, evidence, dir string, args ...string) []string {
	return append([]string{"train", features, "--set", "data.features.label_columns=[\"label_*\"]",
		"--set", "net.hidden=[16]", "--batch-size", "32", "--set", "data.validation_share=0",
		"--set", "train.stage1_epochs=6", "--set", "train.stage2_epochs=4", "--set", "train.patience=0",
		"--learning-rate", "0.01", "--set", "data.evidence=" + evidence, "--run-dir", dir, "-q"}, args...)
}

// What two annotators say, each as far as it is to be trusted, teaches more than the labels of one; without a choice
// the arm is the baseline. The loss falls, and test rows are judged by their labels.
func TestTrain_EvidenceOfTwoAnnotatorsTeachesTheTruth(t *testing.T) {
	t.Parallel()
	ap := func(dir string) float64 {
		o, err := run.ReadOutcome(dir)
		if err != nil || o == nil || o.Arm != recipe.Baseline {
			t.Fatalf("outcome %+v, %v", o, err)
		}
		return float64(o.Evaluation.Labels.AP.All)
	}
	features, evidence := witnessed(t, false)
	both, one := filepath.Join(t.TempDir(), "both"), filepath.Join(t.TempDir(), "one")
	must(t, byEvidence(features, evidence, both)...)
	must(t, byEvidence(features, "", one, "--arm", "baseline")...)
	by, without := ap(both), ap(one)
	t.Logf("AP %.3f by evidence, %.3f by the labels of one annotator", by, without)
	if !(by > without+.1 && by > .85) {
		t.Errorf("AP is %.3f by evidence, %.3f by the labels of one annotator", by, without)
	}
	curve, _, err := run.ReadCurve(filepath.Join(both, run.Stage1Folder, run.LogFile), "stage1")
	if err != nil || len(curve) < 2 || !(curve[len(curve)-1].Loss < .85*curve[0].Loss) {
		t.Errorf("loss %+v, %v", curve, err)
	}
	features, named := witnessed(t, true)
	byName := filepath.Join(t.TempDir(), "named")
	must(t, byEvidence(features, named, byName)...)
	if !bytes.Equal(readBytes(t, both, train.LastName), readBytes(t, byName, train.LastName)) {
		// Checkpoints name the data by their content, which is the same.
		t.Error("rows by name teach something else than rows in order")
	}
}

func TestTrain_EvidenceIsResumedBitForBit(t *testing.T) {
	t.Parallel()
	features, evidence := witnessed(t, true)
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, byEvidence(features, evidence, whole)...)
	resumedEquals(t, whole, func(dir string) []string {
		return byEvidence(features, evidence, dir, "--set", "train.log_steps=1")
	}, []string{run.Stage1Folder, ""})
}

// A run does not go on with other evidence, whether it is complete or was interrupted.
func TestTrain_EvidenceIsOfTheRun(t *testing.T) {
	t.Parallel()
	features, evidence := witnessed(t, true)
	dir := filepath.Join(t.TempDir(), "run")
	must(t, byEvidence(features, evidence, dir, "--arm", "stage1")...)
	text := readBytes(t, evidence)
	write(t, evidence, bytes.Replace(text, []byte("-"), []byte(""), 1))
	wantUsage(t, call(t, append(goOn(dir), "-q")...), "evidence.csv has changed since this run began")
	wantUsage(t, call(t, byEvidence(features, "", dir, "--arm", "stage1")...), "--run-dir")
}

func TestTrain_EvidenceRefusesWhatDoesNotGoWithIt(t *testing.T) {
	t.Parallel()
	features, evidence := witnessed(t, true)
	dir := filepath.Join(t.TempDir(), "run")
	for _, c := range []struct{ args, says []string }{
		{[]string{"--arm", "nmn-fd"}, []string{"arm nmn-fd has a noise model", "data.evidence", "--arm baseline"}},
		{[]string{"--set", "recipe.form=estimate"}, []string{"estimate", "data.evidence", "leave out one"}},
	} {
		wantUsage(t, call(t, byEvidence(features, evidence, dir, c.args...)...), c.says...)
	}
	write(t, evidence, "id,label_hot,label_dry\n1,1,2\n")
	wantFailure(t, call(t, byEvidence(features, evidence, dir)...), "has 2 columns for the 5 classes", "evidence.csv")
}
