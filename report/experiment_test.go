package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/report/chart"
	"nmn/text"
)

// Runs with other flips of labels are other rows, in the order of their rates.
func TestExperimentTable_FlipsAreNoiseLevels(t *testing.T) {
	run := func(arm string, f Flips, seed uint64) Run {
		result := expect.Value(eval.Evaluate(eval.Input{Bags: 2, Classes: 1, Scores: []float32{.2, .7},
			Labels: []uint8{0, 1}}, eval.Options{}))(t)
		return Run{Arm: arm, Flips: f, Seed: seed, Result: result}
	}
	table := expect.Value(ExperimentTable(allTitled(
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
		result := expect.Value(eval.Evaluate(eval.Input{Bags: 2, Classes: 1, Scores: []float32{.2, .7},
			Labels: []uint8{0, 1}}, eval.Options{}))(t)
		return Run{Arm: arm, Noise: .4, NoiseKind: kind, Seed: 1, Result: result}
	}
	runs := allTitled(run(nmnFI, "similar"), run(Baseline, "similar"), run(nmnFI, ""), run(Baseline, "pair"),
		run(Baseline, ""))
	experiment := expect.Value(ExperimentTable(runs))(t)
	paired := expect.Value(PairedTable(runs, Baseline))(t)
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
		v := expect.Value(text.NewVocabulary([]text.Word{{Text: "beach", POS: pos}, {Text: "urban", POS: text.Others}}))(t)
		r := expect.Value(eval.Evaluate(eval.Input{Bags: 1, Classes: 2, Scores: []float32{.2, .7}, Labels: []uint8{0, 1},
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
		table := expect.Value(f(runs))(t)
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

func TestExperimentPage_HoldsTablesAndLinksAndEscapes(t *testing.T) {
	runs := drawnRuns(false)
	table := expect.Value(ExperimentTable(runs))(t)
	odd := &Run{Arm: markup, Noise: .4, Seed: 9}
	page := ExperimentPage{Name: markup, Shown: []*Table{table.Summary()}, Rows: []Explained{{markup, markup}},
		Remarks: []string{markup}, All: []*Table{table},
		Runs: []LinkedRun{{&runs[0], "noise-80/seed-0/a b", "noise-80/seed-0/a b/report.html"}, {odd, markup, ""},
			{odd, "x", `javascript:alert("x")`}}}
	html := said(t, page.Write)
	content, elements := parsed(t, html)
	if elements["table"] != 3 || elements["a"] != 2 || elements["b"] != 0 || elements["script"] != 0 ||
		strings.Count(content, markup) != 8 || elements["figure"] != 1 {
		t.Errorf("elements %v, %d names", elements, strings.Count(content, markup))
	}
	has(t, html, `href="noise-80/seed-0/a%20b/report.html"`, "<strong>", ` class="rule"`)
	lacks(t, html, "://", "src=", "url(", "javascript:")
}

// The page compares runs by the first form of AP that all of them have.
func TestExperimentPage_FigureThatEveryRunHas(t *testing.T) {
	known, unknown := Run{Arm: Baseline, Result: drawnResult(.5)}, Run{Arm: Baseline, Seed: 1, Result: drawnResult(.7)}
	unknown.Result.Truth = nil
	unlike := Run{Arm: Baseline, Seed: 2, Result: drawnResult(.6)}
	unlike.Result.Truth, unlike.Result.Human = nil, nil
	for _, c := range []struct {
		runs []LinkedRun
		want []string
	}{
		{[]LinkedRun{{Run: &known}}, []string{"AP (truth) %", "<td>50.0</td>"}},
		{[]LinkedRun{{Run: &known}, {Run: &unknown}}, []string{"human AP %", "<td>49.0</td>", "<td>69.0</td>"}},
		{[]LinkedRun{{Run: &known}, {Run: &unlike}}, []string{"mAP (labels) %", "<td>48.0</td>", "<td>58.0</td>"}},
	} {
		has(t, said(t, (&ExperimentPage{Runs: c.runs}).Write), c.want...)
	}
}

func comparedArm(name string, mil bool) ComparedArm {
	a := ComparedArm{Name: name, MIL: mil}
	a.Curves.All = []eval.CurvePoint{{Recall: .2, Precision: 1}, {Recall: 1, Precision: .3}}
	a.Curves.Group = make([][]eval.CurvePoint, text.POSCount)
	a.Curves.Group[text.NN], a.Curves.Group[text.VB] = a.Curves.All, a.Curves.All
	return a
}

// The predictions of arms are next to the picture, marked as in the paper's Figure 4.
func TestExperimentPage_ArmsSideBySide(t *testing.T) {
	says := func(kind LabelKind, p float64) []ShownLabel { return []ShownLabel{{markup, p, kind, false}} }
	c := Comparison{Title: markup, Against: "true labels", Split: "test", Chosen: "1 bags",
		Arms: []ComparedArm{comparedArm("baseline", false), comparedArm("NMN-FI", false)},
		Bags: []ComparedBag{{ShownBag{ID: markup, JPEG: []byte("jpeg")}, []ArmWords{{"baseline", says(IncorrectLabel, .7)},
			{"NMN-FI", says(MissingLabel, .2)}, {"none", nil}}}}}
	page := said(t, (&ExperimentPage{Name: "x", Compared: []Comparison{c, c}}).Write)
	content, elements := parsed(t, page)
	if elements["figure"] != 6 || elements["img"] != 2 || elements["article"] != 2 || elements["details"] != 7 ||
		elements["script"] != 0 {
		t.Errorf("elements %v", elements)
	}
	for _, part := range []string{`<li class="incorrect"><i>✗</i>`, `<li class="missing"><i>&#43;</i>`,
		"data:image/jpeg;base64,anBlZw==", "no label predicted, and none is right"} {
		if strings.Count(page, part) < 2 {
			t.Errorf("the page does not tell %q twice", part)
		}
	}
	if strings.Count(content, markup) != 2*4 || strings.Contains(page, "://") {
		t.Errorf("markup is text %d times", strings.Count(content, markup))
	}
}

func TestArmCharts_APanelForEachPartOfSpeechAndALegend(t *testing.T) {
	arms := []ComparedArm{comparedArm("baseline", false), comparedArm("NMN-FI", false),
		comparedArm("baseline + MIL", true), {Name: "no curves"}}
	var b bytes.Buffer
	if drawn, err := drawCharts(&b, armCharts(arms)); err != nil || !drawn {
		t.Fatal(drawn, err)
	}
	svg := b.String()
	for part, times := range map[string]int{">All words<": 2, ">nouns (NN)<": 2, ">verbs (VB)<": 2, ">baseline<": 3,
		">NMN-FI<":         3,
		">baseline + MIL<": 3, ">no curves<": 0} {
		if n := strings.Count(svg, part); n != times {
			t.Errorf("%q is drawn %d times", part, n)
		}
	}
	// Three panels with two full lines and a dashed one each, and each with its legend.
	if n := strings.Count(svg, " dashed\""); n != 6 {
		t.Errorf("%d dashed lines, want 6", n)
	}
	b.Reset()
	if _, err := drawCharts(&b, armCharts(arms[2:3])); err != nil || strings.Contains(b.String(), " dashed\"") {
		t.Errorf("a lone arm is dashed, %v", err)
	}
	one := comparedArm("baseline", false)
	one.Curves.Group[text.VB] = nil // a vocabulary of one part of speech has no panels of it
	b.Reset()
	if drawn, err := drawCharts(&b, armCharts([]ComparedArm{one})); err != nil || !drawn ||
		strings.Contains(b.String(), ">nouns (NN)<") {
		t.Error(drawn, err)
	}
	if drawn, err := drawCharts(&b, armCharts([]ComparedArm{{Name: "no curves"}})); err != nil || drawn {
		t.Errorf("without a curve: drawn %t, %v", drawn, err)
	}
}

func TestArmColor_MILHasThatOfItsArm(t *testing.T) {
	arms := []ComparedArm{{Name: "baseline"}, {Name: "fi"}, {Name: "baseline", MIL: true}, {Name: "fi", MIL: true}}
	var colors []chart.Color
	for i := range arms {
		colors = append(colors, armColor(arms, i))
	}
	if colors[0] != colors[2] || colors[1] != colors[3] || colors[0] == colors[1] {
		t.Errorf("colours %v", colors)
	}
}
