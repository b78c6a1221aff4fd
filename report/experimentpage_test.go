package report

import (
	"strings"
	"testing"
)

func TestExperimentPage_HoldsTablesAndLinksAndEscapes(t *testing.T) {
	runs := drawnRuns(false)
	table := value(ExperimentTable(runs))(t)
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
