package report

import (
	"strings"
	"testing"

	"nmn/eval"
	"nmn/text"
)

// humanRun is a run with average precision with human agreement alone: v of nouns, v + .01 of all words.
func humanRun(arm string, mil bool, noise float64, seed uint64, v eval.Number) Run {
	ap := eval.ByGroup[eval.Number]{Group: make([]eval.Number, text.POSCount), All: v + .01}
	for p := range ap.Group {
		ap.Group[p] = eval.Undefined()
	}
	ap.Group[text.NN] = v
	return Run{Arm: arm, ArmTitle: arm, MIL: mil, Noise: noise, Seed: seed,
		Result: &eval.Result{Classes: 1000, GroupSize: eval.ByGroup[int]{Group: make([]int, text.POSCount)},
			Measures: eval.Measures{Human: &eval.Human{AP: ap}}}}
}

func laidOut(t *testing.T, table int, runs ...Run) string {
	t.Helper()
	of, err := PaperLayout(table, runs)
	check(t, err)
	return written(t, CSV, of)
}

func TestPaperLayout_HasMILInAColumnOfTable2(t *testing.T) {
	got := laidOut(t, 2, humanRun(Baseline, false, .2, 1, .3), humanRun(Baseline, false, .2, 2, .4),
		humanRun(Baseline, true, .2, 1, .5),
		humanRun(Baseline, true, .2, 2, .5), humanRun(nmnFD, true, .4, 1, .6))
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 4 || !strings.HasSuffix(lines[0], "All,All sd,All-MIL,All-MIL sd") ||
		!strings.HasPrefix(lines[2], "20,baseline,,,35,7.07") || !strings.HasSuffix(lines[2], "36,7.071067812,51,0") ||
		!strings.HasPrefix(lines[3], "40,nmn-fd,,,,") || !strings.HasSuffix(lines[3], ",,61,") {
		t.Errorf("table\n%s", got)
	}
}

func TestPaperLayout_HasPublishedFiguresOnThePapersData(t *testing.T) {
	ours := humanRun(nmnFD, false, 0, 1, .3)
	ours.PaperData = true
	got := laidOut(t, 1, ours)
	if !strings.Contains(got, `"VGG16-NMN-FD, paper",18.78,,36.43,`) || !strings.Contains(got, "VGG16-NMN-FD,,,30,") {
		t.Errorf("table\n%s", got)
	}
	ours.PaperData = false
	if got := laidOut(t, 1, ours); strings.Contains(got, "36.43") {
		t.Errorf("published figures beside other data:\n%s", got)
	}
	if _, err := PaperLayout(4, []Run{ours}); err == nil {
		t.Error("Table 4 has this layout")
	}
}

func TestObservedTable(t *testing.T) {
	ours := humanRun(nmnFD, true, .8, 1, .3)
	ours.Result.Observed = &eval.Measures{Human: &eval.Human{AP: eval.ByGroup[eval.Number]{All: .25}}}
	of, err := ObservedTable([]Run{ours, humanRun(Baseline, true, .8, 1, .3)})
	check(t, err)
	if len(of.Rows) != 1 {
		t.Fatalf("rows %v", of.Rows)
	}
	for i, want := range []eval.Number{31, 25, 6, 28.5, 28.22} {
		if got := of.Rows[0].Cells[2+i].Value; got-want > 1e-9 || want-got > 1e-9 {
			t.Errorf("column %d is %v, want %v", 2+i, got, want)
		}
	}
}

func TestReproduction_ShowsAllParts(t *testing.T) {
	r := Reproduction{Title: "A <title>", Lead: []string{"Lead."}, Facts: []Explained{{"size", "quick"}},
		Claims: []*Table{{Title: "Claims", Columns: []Column{{Name: "claim", Text: true}}}},
		Parts: []ReproducedPart{{ID: "figure3", Title: "Figure 3", Figure3: "figure3.svg"},
			{ID: "table1", Title: "Table 1", Skip: "no data"},
			{ID: "table2", Title: "Table 2", Levels: []Run{humanRun(Baseline, false, .2, 1, .3),
				humanRun(Baseline, false, .4, 1, .2)}},
			{ID: "figure4", Title: "Figure 4", Compared: []Comparison{{Title: "Beside", Arms: []ComparedArm{{Name: "baseline"}},
				Bags: []ComparedBag{{ShownBag: ShownBag{ID: "b1"}, Says: []ArmWords{{"baseline", []ShownLabel{
					{Word: "ball", P: .9, Kind: HitLabel}, {Word: "tent", Kind: MissingLabel}}}}}}}}}},
		Rerun: []string{"again"}}
	has(t, said(t, r.WriteHTML), "A &lt;title", "Skipped: no data.", "(a) Missing label",
		"AP by share of replaced captions, without MIL",
		`href="#table2"`, "<span>ball</span>")
	has(t, said(t, r.WriteMarkdown), "# A &lt;title", "Skipped: no data.", "(figure3.svg)", "✓ ball, + tent", "again")
}
