package report

import (
	"fmt"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/text"
)

// EvaluationTables shows one evaluation: every measure by part of speech and over all words, then
// the same of the observed prediction where there is one.
func EvaluationTables(r *eval.Result) []*Table {
	tables := []*Table{measuresTable("By part of speech", r, &r.Measures)}
	if r.Observed != nil {
		tables = append(tables, measuresTable("Observed-label prediction p(z=1|I)", r, r.Observed))
	}
	if r.OutsideRange > 0 {
		tables[0].Notes = append(tables[0].Notes, fmt.Sprintf(
			"%d scores lie outside 0 to 1: they are no probabilities, so F1 at a threshold, Brier score and calibration error "+
				"mean little.",
			r.OutsideRange))
	}
	return tables
}

func measuresTable(title string, r *eval.Result, m *eval.Measures) *Table {
	names := groupNames()
	if r.GroupSize.Group == nil {
		title = strings.Replace(title, "By part of speech", "All labels", 1)
		names = names[text.POSCount:]
	}
	t := &Table{Title: title + " (%, Brier score and rates as fractions)",
		Columns: []Column{{Name: "measure", Text: true}}}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Decimals: 2})
	}
	sizes := Row{Cells: []Cell{words("words")}}
	for _, n := range slices.Concat(r.GroupSize.Group, []int{r.GroupSize.All}) {
		sizes.Cells = append(sizes.Cells, count(n))
	}
	t.Rows = append(t.Rows, sizes)
	if h := m.Human; h != nil {
		t.measure("human AP", h.AP)
		t.measure("precision at human recall", h.PrecisionAtHumanRecall)
		t.measure("human precision", h.Precision)
		t.measure("human recall", h.Recall)
	}
	if m.Labels != nil {
		t.multiLabel("labels", r, m, m.Labels)
	}
	if m.Truth != nil {
		t.multiLabel("truth", r, m, m.Truth)
	}
	if x := r.Transition; x != nil && m == &r.Measures {
		t.rate("q01, estimated", x.Q01)
		t.rate("q01, error", x.Q01Error)
		t.rate("q10, estimated", x.Q10)
		t.rate("q10, error", x.Q10Error)
	}
	return t
}

func (t *Table) multiLabel(against string, r *eval.Result, m *eval.Measures, l *eval.MultiLabel) {
	t.measure("AP, "+against, l.AP)
	for _, f := range []struct {
		at string
		f1 eval.ByGroup[eval.F1]
	}{
		{fmt.Sprintf("p ≥ %.3g", m.Threshold), l.AtThreshold},
		{fmt.Sprintf("p ≥ θ* = %.3f", m.PlugIn), l.AtPlugIn},
		{fmt.Sprintf("top %d", r.TopK), l.AtTopK},
	} {
		t.measure("OF1, "+f.at+", "+against, figures(f.f1, func(f eval.F1) eval.Number { return f.OF1 }))
		t.measure("CF1, "+f.at+", "+against, figures(f.f1, func(f eval.F1) eval.Number { return f.CF1 }))
	}
	t.rate("Brier, "+against, l.Brier)
	t.measure("ECE, "+against, l.ECE)
}

func figures(g eval.ByGroup[eval.F1], of func(eval.F1) eval.Number) eval.ByGroup[eval.Number] {
	out := eval.ByGroup[eval.Number]{All: of(g.All)}
	for _, f := range g.Group {
		out.Group = append(out.Group, of(f))
	}
	return out
}

// measure adds a row of fractions as percent.
func (t *Table) measure(name string, g eval.ByGroup[eval.Number]) { t.groupFigures(name, g, 100, 2) }

// rate adds a row of fractions as they are.
func (t *Table) rate(name string, g eval.ByGroup[eval.Number]) { t.groupFigures(name, g, 1, 4) }

func (t *Table) groupFigures(name string, g eval.ByGroup[eval.Number], scale eval.Number, decimals int) {
	row := Row{Cells: []Cell{words(name)}}
	for _, v := range slices.Concat(g.Group, []eval.Number{g.All}) {
		c := number(scale * v)
		c.decimals = decimals
		row.Cells = append(row.Cells, c)
	}
	t.Rows = append(t.Rows, row)
}
