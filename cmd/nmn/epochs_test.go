package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

func epochRows(t *testing.T, dir string) []run.EpochFigures {
	t.Helper()
	rows, err := run.ReadEpochs(dir)
	expect.OK(t, err)
	return rows
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	expect.OK(t, err)
	return string(data)
}

// Evaluating epochs does not change training, and the figures of the last epoch are the figures of the run.
func TestEpochs_AreThoseOfShorterRuns(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	plain := trained(t, "--arm", "nmn-fd", "--set", "train.stage2_epochs=3")
	long := trained(t, "--arm", "nmn-fd", "--set", "train.stage2_epochs=3", "--set", "each_epoch=true")
	for _, stage := range []string{run.Stage1Folder, ""} {
		if read(t, plain, stage, train.LastName) != read(t, long, stage, train.LastName) {
			t.Errorf("stage %q: other weights with --each-epoch", stage)
		}
	}
	if durable.Exists(filepath.Join(plain, run.EpochsFile)) {
		t.Error("figures of epochs that nobody has asked for")
	}
	short := trained(t, "--arm", "nmn-fd", "--set", "train.stage2_epochs=2", "--set", "each_epoch=true")
	rows := epochRows(t, long)
	if len(rows) != 3 || len(epochRows(t, filepath.Join(long, run.Stage1Folder))) != 1 || rows[2].Step != 9 {
		t.Fatalf("rows %+v, want 3 epochs of 3 steps, and 1 of stage 1", rows)
	}
	if asJSON(t, rows[:2]) != asJSON(t, epochRows(t, short)) {
		t.Error("the first two epochs of three are not those of a run of two")
	}
	for dir, row := range map[string]run.EpochFigures{long: rows[2], short: rows[1]} {
		o := outcomeOf(t, dir)
		o.Evaluation.Words = nil
		if asJSON(t, o.Evaluation) != asJSON(t, row.Evaluation) {
			t.Errorf("after epoch %d the figures are not those of the end", row.Epoch)
		}
	}
	must(t, goOn(short, "--set", "train.stage2_epochs=3")...)
	if asJSON(t, epochRows(t, short)) != asJSON(t, rows) {
		t.Error("a run that was made longer has other epochs")
	}
	if page := read(t, long, report.HTMLFile); !strings.Contains(page, "After each epoch") {
		t.Error("the page does not tell the epochs")
	}
	wantUsage(t, call(t, goOn(plain, "--set", "each_epoch=true")...), "each_epoch")
}

func TestEpochs_OfAnExperiment(t *testing.T) {
	t.Parallel()
	skipShort(t, "trains many runs")
	dir := t.TempDir()
	args := tiny("experiment", "--size", "quick", "--run-dir", dir, "--arms", "baseline,nmn-fi", "--seeds", "1,2",
		"--set", "train.stage2_epochs=3", "--set", "each_epoch=true")
	out := must(t, args...)
	if !strings.Contains(out, "at its best epoch, chosen by the true labels") || strings.Contains(out, "every epoch,") {
		t.Errorf("want the table at the best epochs alone:\n%s", out)
	}
	if again := must(t, args...); again != out {
		t.Error("a second call gave another table")
	}
}
