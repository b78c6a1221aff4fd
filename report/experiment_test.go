package report

import (
	"fmt"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/text"
)

// Runs with other flips of labels are other rows, in the order of their rates.
func TestExperimentTable_FlipsAreNoiseLevels(t *testing.T) {
	run := func(arm string, f Flips, seed uint64) Run {
		result := value(eval.Evaluate(eval.Input{Bags: 2, Classes: 1, Scores: []float32{.2, .7}, Labels: []uint8{0, 1}},
			eval.Options{}))(t)
		return Run{Arm: arm, Flips: f, Seed: seed, Result: result}
	}
	table := value(ExperimentTable(allTitled(
		run(Baseline, Flips{Q01: .4}, 1), run(nmnFI, Flips{Q01: .4}, 1), run(Baseline, Flips{Q01: .3, Q10: .1}, 1),
		run(Baseline, Flips{Q01: .3, Q10: .1}, 2), run(Baseline, Flips{}, 1),
	)))(t)
	want := "0 / baseline / 1; 30 missing, 10 incorrect / baseline / 2; 40 missing, 0 incorrect / baseline / 1; 40 " +
		"missing, 0 incorrect / NMN-FI / 1"
	if got := rowsOf(table, 3); got != want {
		t.Errorf("rows %s\nwant %s", got, want)
	}
}

// rowsOf are the words of the first columns of all rows.
func rowsOf(table *Table, columns int) string {
	var rows []string
	for _, r := range table.Rows {
		var row []string
		for _, c := range r.Cells[:columns] {
			row = append(row, c.Text)
		}
		rows = append(rows, strings.Join(row, " / "))
	}
	return strings.Join(rows, "; ")
}

// Runs whose captions were replaced in other ways are other rows, and are compared with their own baseline.
func TestTables_KindsOfReplacedCaptionsAreNoiseLevels(t *testing.T) {
	run := func(arm, kind string) Run {
		result := value(eval.Evaluate(eval.Input{Bags: 2, Classes: 1, Scores: []float32{.2, .7}, Labels: []uint8{0, 1}},
			eval.Options{}))(t)
		return Run{Arm: arm, Noise: .4, NoiseKind: kind, Seed: 1, Result: result}
	}
	runs := allTitled(run(nmnFI, "similar"), run(Baseline, "similar"), run(nmnFI, ""), run(Baseline, "pair"),
		run(Baseline, ""))
	experiment := value(ExperimentTable(runs))(t)
	paired := value(PairedTable(runs, Baseline))(t)
	for table, want := range map[*Table]string{
		experiment: "40 / baseline; 40 / NMN-FI; 40 pair / baseline; 40 similar / baseline; 40 similar / NMN-FI",
		paired:     "40 / NMN-FI; 40 similar / NMN-FI",
	} {
		if got := rowsOf(table, 2); got != want {
			t.Errorf("rows %s\nwant %s", got, want)
		}
	}
}

// Labels without parts of speech have no columns for them.
func TestEvaluationTables_LabelsWithoutPartsOfSpeech(t *testing.T) {
	columns := func(pos text.POS) string {
		v := value(text.NewVocabulary([]text.Word{{Text: "beach", POS: pos}, {Text: "urban", POS: text.Others}}))(t)
		r := value(eval.Evaluate(eval.Input{Bags: 1, Classes: 2, Scores: []float32{.2, .7}, Labels: []uint8{0, 1},
			Vocabulary: v}, eval.Options{}))(t)
		var names []string
		for _, c := range EvaluationTables(r)[0].Columns {
			names = append(names, c.Name)
		}
		return strings.Join(names, " ")
	}
	if got := columns(text.Others); got != "measure All" {
		t.Errorf("columns %s", got)
	}
	if got := columns(text.NN); !strings.HasPrefix(got, "measure NN VB") {
		t.Errorf("with a noun: columns %s", got)
	}
}

func TestBestEpochTable_ChoosesOneEpochForAllSeeds(t *testing.T) {
	run := func(arm string, seed uint64, aps ...float64) Run {
		r := Run{Arm: arm, Seed: seed, Result: drawnResult(.1)}
		for i, ap := range aps {
			r.Epochs = append(r.Epochs, Epoch{Number: i + 1, Result: drawnResult(ap)})
		}
		return r
	}
	bare := run(nmnFD, 1)
	// Seed 1 alone would choose epoch 2, seed 2 epoch 3; epoch 4 is not there for all.
	runs := allTitled(run(Baseline, 1, .5, .8, .7, .9), run(Baseline, 2, .5, .4, .7), run(nmnFI, 1, .6, .6), bare)
	rows := func(f func([]Run) (*Table, error)) string {
		table := value(f(runs))(t)
		var out []string
		for _, r := range table.Rows {
			out = append(out, fmt.Sprintf("%s %s %s %.0f", r.Cells[1].Text, r.Cells[2].Text, r.Cells[3].Text,
				float64(r.Cells[4].Value)))
		}
		return strings.Join(out, "; ")
	}
	if got, want := rows(BestEpochTable), "baseline 3 2 70; NMN-FI 1 1 60"; got != want {
		t.Errorf("best epochs %s, want %s", got, want)
	}
	if got, want := rows(EpochTable),
		"baseline 1 2 50; baseline 2 2 60; baseline 3 2 70; NMN-FI 1 1 60; NMN-FI 2 1 60"; got != want {
		t.Errorf("epochs %s, want %s", got, want)
	}
	if runs[0].Result.Truth.AP.All != eval.Number(.1) {
		t.Error("the runs were changed")
	}
}
