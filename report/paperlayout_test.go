package report

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
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
	of := expect.Value(PaperLayout(table, runs))(t)
	return written(t, CSV, of)
}

func TestPaperLayout_HasMILInAColumnOfTable2(t *testing.T) {
	got := laidOut(t, 2, humanRun(Baseline, false, .2, 1, .3), humanRun(Baseline, false, .2, 2, .4), humanRun(Baseline,
		true, .2, 1, .5), humanRun(Baseline, true, .2, 2, .5), humanRun(nmnFD, true, .4, 1, .6))
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
	of := expect.Value(ObservedTable([]Run{ours, humanRun(Baseline, true, .8, 1, .3)}))(t)
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
		Parts: []ReproducedPart{{ID: "figure3", Title: "Figure 3", Figure3: true},
			{ID: "table1", Title: "Table 1", Skip: "no data"},
			{ID: "table2", Title: "Table 2", Levels: []Run{humanRun(Baseline, false, .2, 1, .3),
				humanRun(Baseline, false, .4, 1, .2)}},
			{ID: "figure4", Title: "Figure 4", Compared: []Comparison{{Title: "Beside", Arms: []ComparedArm{{Name: "baseline"}},
				Bags: []ComparedBag{{ShownBag: ShownBag{ID: "b1"}, Says: []ArmWords{{"baseline", []ShownLabel{
					{Word: "ball", P: .9, Kind: HitLabel}, {Word: "tent", Kind: MissingLabel}}}}}}}}}},
		Rerun: []string{"again"}}
	has(t, said(t, r.WriteHTML), "A &lt;title", "Skipped: no data.", "(a) Missing label", "AP by share of replaced "+
		"captions, without MIL", `href="#table2"`, "<span>ball</span>")
	has(t, said(t, r.WriteMarkdown), "# A &lt;title", "Skipped: no data.", "✓ ball, + tent", "again")
}

// TestPublished_GroupsAverageToAll catches typing errors: the mean over all words must be the mean
// of the groups weighted by their sizes, within what rounding to the printed digits allows.
func TestPublished_GroupsAverageToAll(t *testing.T) {
	for _, p := range PublishedRows() {
		if !p.AP.Group[text.NN].Defined() {
			continue
		}
		sizes := publishedSizes(p.Table)
		sum := 0.0
		for g, n := range sizes.Group {
			sum += float64(n) * float64(p.AP.Group[g])
		}
		allowed := .011
		if p.Cited {
			allowed = .06 // printed with one digit after the point
		}
		if mean := sum / float64(sizes.All); math.Abs(mean-float64(p.AP.All)) > allowed {
			t.Errorf("Table %d, noise %v, %s: the groups average to %.3f, printed is %v", p.Table, p.Noise,
				paperName(p.Arm, p.MIL), mean, p.AP.All)
		}
	}
	for table := 1; table <= 3; table += 2 {
		sizes, n := publishedSizes(table), 0
		for _, g := range sizes.Group {
			n += g
		}
		if n != sizes.All {
			t.Errorf("Table %d: groups of %d words in all, printed %d", table, n, sizes.All)
		}
	}
}

func TestPublished_EveryArmOfEveryTable(t *testing.T) {
	n := map[int]int{}
	for _, p := range PublishedRows() {
		n[p.Table]++
	}
	if n[1] != 9 || n[2] != 32 || n[3] != 8 {
		t.Errorf("rows %v, want 9, 2·16 and 8", n)
	}
	for _, noise := range []float64{0, .2, .4, .6, .8} {
		for _, mil := range []bool{false, true} {
			of := map[string]eval.Number{}
			for _, arm := range []string{Stage1, Baseline, nmnFI, nmnFD} {
				p, ok := publishedFor(cellKey{noise: noise, mil: mil, arm: arm}, "")
				if of[arm] = p.AP.All; !ok || !of[arm].Defined() || p.Cited {
					t.Errorf("noise %v, arm %s, MIL %v: %+v, %v", noise, arm, mil, p, ok)
				}
			}
			// The text of the paper: FD is above the baseline, and the observed prediction is below the clean one.
			if !(of[nmnFD] > of[Baseline]) {
				t.Errorf("noise %v, MIL %v: FD %v, baseline %v", noise, mil, of[nmnFD], of[Baseline])
			}
			if noise == observedNoise && !(PublishedObserved(mil) < of[nmnFD]) {
				t.Errorf("MIL %v: observed %v, clean %v", mil, PublishedObserved(mil), of[nmnFD])
			}
		}
	}
}

func TestPublished_SizesAreThoseOfTheVocabulary(t *testing.T) {
	folder := os.Getenv("NMN_DATA")
	if folder == "" {
		t.Skip("NMN_DATA is not set: the vocabulary of Fang et al. is not compared with Table 1")
	}
	v := expect.Value(text.ReadVocabulary(filepath.Join(folder, "vocab-fang2015", "vocab_words.txt")))(t)
	sizes, counts := publishedSizes(1), v.POSCounts()
	if !slices.Equal(counts[:], sizes.Group) || v.Len() != sizes.All {
		t.Errorf("vocabulary %v, Table 1 %v", counts, sizes)
	}
}

// The page shows verdicts as words with a sign and a class of the style, a chart of differences, and folded figures.
func TestReproduction_ShowsClaimsAsAPlot(t *testing.T) {
	r := &Reproduction{Title: "x", Plots: []PlottedClaim{
		{Claim: "A is better" + markup, Where: "Table 1", Data: "scenes", Outcome: Confirmed,
			Figures:     &Table{Title: "All figures", Columns: []Column{{Name: "p"}}, Rows: []Row{{Cells: []Cell{figure(.01)}}}},
			Differences: []ClaimDifference{{Name: "20 % noise", Mean: 2, Low: 1, High: 3, Published: 1.5, Outcome: Confirmed}}},
		{Claim: "B is better", Data: "scenes", Outcome: NotConfirmed, Reason: "it is not"},
		{Claim: "C is better", Beyond: true, Outcome: NotTested,
			Differences: []ClaimDifference{{Name: "a name that is too long for the left side", Mean: eval.Undefined(),
				Low: eval.Undefined(), High: eval.Undefined(), Published: -4, Outcome: NotTested}}},
	}}
	page := said(t, r.WriteHTML)
	has(t, page, `<span class="verdict confirmed"><i aria-hidden="true">✓</i> confirmed</span> on scenes`,
		`<span class="verdict refuted"><i aria-hidden="true">✗</i> not confirmed</span>`, "It is not.",
		`<span class="verdict undecided"><i aria-hidden="true">?</i> not tested</span>`, "Claims beyond the paper",
		"<summary>Source and figures</summary>", `id="claim-1-1-t"`, `id="claim-3-1-t"`, ">20 % noise</text>")
	if a, b := claimAxis(&r.Plots[0]), claimAxis(&r.Plots[2]); a.Min < -1 || a.Max <= 3 || b.Min >= -4 || b.Max > 1 {
		t.Errorf("axes %+v and %+v do not hold the differences of their claim alone", a, b)
	}
	if strings.Contains(page, markup) || claimChart(&r.Plots[1]) != nil {
		t.Error("markup of a claim is not escaped, or a claim without differences has a chart")
	}
}
