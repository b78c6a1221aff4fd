package report

import (
	"fmt"
	"strings"
	"testing"

	"nmn/eval"
)

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
		table, err := f(runs)
		check(t, err)
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
