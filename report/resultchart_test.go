package report

import (
	"fmt"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/report/chart"
)

// The main result is the first figure: a chart for each level of noise, without and with MIL apart, a row for each arm
// with a dot for each seed, on one axis.
func TestResultCharts_ARowForEachArm(t *testing.T) {
	charts, err := resultCharts(drawnRuns(false))
	expect.OK(t, err)
	var titles []string
	for _, c := range charts {
		titles = append(titles, c.Title)
		if len(c.Rows) != 4 || c.X.Min != charts[0].X.Min || c.X.Max != charts[0].X.Max || len(c.Marks) != 3 {
			t.Errorf("%s: rows %q, axis %+v, %d marks", c.Title, c.Rows, c.X, len(c.Marks))
		}
		for _, m := range c.Marks {
			for _, p := range m.Points {
				if p.X <= c.X.Min || p.X >= c.X.Max {
					t.Errorf("%s: %g is not between %g and %g", c.Title, p.X, c.X.Min, c.X.Max)
				}
			}
			if want := map[chart.Shape]int{chart.Thick: 8, chart.Upright: 4, chart.Dot: 12}[m.Shape]; len(m.Points) != want {
				t.Errorf("%s: %q has %d points, want %d", c.Title, m.Name, len(m.Points), want)
			}
		}
	}
	if want := []string{"AP (truth) at noise of 40 %, without MIL", "AP (truth) at noise of 40 %, with MIL",
		"AP (truth) at noise of 80 %, without MIL"}; fmt.Sprint(titles) != fmt.Sprint(want) {
		t.Errorf("titles %q", titles)
	}
	two, err := resultCharts(allTitled(Run{Arm: Stage1, Result: drawnResult(.41)},
		Run{Arm: Baseline, Result: drawnResult(.42)},
		Run{Arm: nmnFI, Result: drawnResult(.40)}))
	if err != nil || two[0].X.Min >= 40 || two[0].X.Max <= 42 {
		t.Errorf("an arm is outside of the axis: %+v, %v", two, err)
	}
	if charts[0].Rows[0] != "stage 1" || charts[0].Values[0] != "59.0 ± 3.0" {
		t.Errorf("first row %q %q", charts[0].Rows[0], charts[0].Values[0])
	}
	one, err := resultCharts(allTitled(Run{Arm: Baseline, Result: drawnResult(.5)}))
	if err != nil || len(one) != 1 || strings.Contains(string(one[0].Inline("one")), "deviation") ||
		one[0].Title != "AP (truth)" || one[0].Values[0] != "50.0" {
		t.Errorf("one seed: %+v, %v", one, err)
	}
}

// Titles mention a deviation only if the table has one.
func TestTables_OfOneSeedClaimNoDeviation(t *testing.T) {
	runs := allTitled(Run{Arm: Baseline, Result: drawnResult(.5)}, Run{Arm: nmnFI, Result: drawnResult(.6)})
	for name, f := range map[string]func([]Run) (*Table, error){"experiment": ExperimentTable, "paired": againstBaseline,
		"epochs": EpochTable} {
		table := expect.Value(f(runs))(t)
		if strings.Contains(table.Title, "±") {
			t.Errorf("%s: %q", name, table.Title)
		}
	}
}

// Of figures that are printed as the same none is favoured.
func TestMarkBest_EqualInPrintIsEqual(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "AP", Decimals: 1}}}
	for _, v := range []eval.Number{.5, 61.71, 61.74, 61.6} {
		table.Rows = append(table.Rows, Row{Cells: []Cell{number(v)}})
	}
	table.markBest(0, false)
	var bold []bool
	for _, r := range table.Rows {
		bold = append(bold, r.Cells[0].Bold)
	}
	if fmt.Sprint(bold) != "[false true true false]" {
		t.Errorf("bold %v", bold)
	}
	same := &Table{Columns: table.Columns, Rows: []Row{{Cells: []Cell{number(1.01)}}, {Cells: []Cell{number(1.02)}}}}
	same.markBest(0, false)
	if same.Rows[0].Cells[0].Bold || same.Rows[1].Cells[0].Bold {
		t.Error("all are the same, and some are bold")
	}
}

// The text of the page about the rates matches the run.
func TestWriteHTML_SaysHowTheRatesCameAbout(t *testing.T) {
	const learnt, held, estimate, none = "The noise model has learned these rates", "were set before training and did not change",
		"The rates were estimated before training", "No class has rates of its own"
	for _, c := range []struct {
		held      bool
		remarks   []string
		unknown   bool
		says      string
		saysOther string
	}{
		{false, nil, false, learnt, ""}, {true, nil, false, held, ""}, {true, []string{"q01 .1"}, false, estimate, ""},
		{true, []string{"nothing is told"}, true, none, "nothing is told"}, {false, nil, true, "", ""},
	} {
		r := shownRun()
		r.RatesHeld, r.RateRemarks = c.held, c.remarks
		if c.unknown {
			nan := eval.Undefined()
			for i := range r.Rates {
				r.Rates[i].Q01, r.Rates[i].Q10, r.Rates[i].Remarks = float64(nan), float64(nan), "not estimated"
			}
		}
		page := htmlOf(t, r)
		for _, sentence := range []string{learnt, held, estimate, none} {
			if strings.Contains(page, sentence) != (sentence == c.says) {
				t.Errorf("%+v: the page says %q: %v", c, sentence, sentence != c.says)
			}
		}
		has(t, page, c.saysOther)
	}
}

func TestWriteHTML_SaysWhatWasJudgedOn(t *testing.T) {
	for split, want := range map[string]string{"": "on 200 samples and 3 words",
		"test": "on 200 samples of the test set and 3 words"} {
		r := shownRun()
		r.Split = split
		has(t, htmlOf(t, r), want)
	}
	lacks(t, htmlOf(t, &Run{Dataset: "manifest", Arm: Baseline}), "captions")
}

// A table of one level of noise has no column of it; labels that are no words have no part of speech.
func TestPageTables_WithoutColumnsThatSayNothing(t *testing.T) {
	table := &Table{Title: "t", Columns: []Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true},
		{Name: "AP"}},
		Rows: []Row{{Cells: []Cell{words("40"), words("a"), number(1)}}, {Cells: []Cell{words("40"), words("b"), number(2)}}}}
	shown := pageTables([]*Table{table})[0]
	if len(shown.Columns) != 2 || len(shown.Rows[1].Cells) != 2 || !strings.Contains(fmt.Sprint(shown.Notes),
		"noise of 40 %") ||
		len(table.Columns) != 3 {
		t.Errorf("%+v", shown)
	}
	table.Rows[1].Cells[0] = words("80")
	if shown := pageTables([]*Table{table})[0]; len(shown.Columns) != 3 {
		t.Errorf("two levels: %+v", shown)
	}
	list := []ranked{{eval.Word{Word: "x", POS: "Others"}, .5}}
	lacks(t, written(t, CSV, wordTable("words", "words", list)), "POS")
	list[0].word.POS = "NN"
	if notes := pageTables([]*Table{wordTable("words", "words", list)})[0].Notes; len(notes) != 1 ||
		notes[0] != "Parts of speech: NN nouns." {
		t.Errorf("notes %q", notes)
	}
}
