package report

import (
	"fmt"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/text"
)

// EvaluationTables shows one evaluation: every measure by part of speech and over all classes, and the same
// measures of the observed prediction if there is one.
func EvaluationTables(r *eval.Result) []*Table {
	tables := []*Table{measuresTable("By part of speech", r, &r.Measures)}
	if r.Observed != nil {
		tables = append(tables, measuresTable("Prediction of the labels as they were given", r, r.Observed))
	}
	if r.OutsideRange > 0 {
		tables[0].Notes = append(tables[0].Notes, fmt.Sprintf("%d scores lie outside 0 to 1 and are no probabilities. F1 "+
			"at a threshold, Brier score and calibration error mean little.", r.OutsideRange))
	}
	return tables
}

// SummaryTable shows the measures over all classes that come first: a column for each kind of labels that they are held
// against.
func SummaryTable(title string, r *eval.Result) *Table {
	t := &Table{Title: title, Columns: []Column{{Name: "measure", Text: true}},
		Notes: []string{"In %, except for the Brier score. docs/guide/evaluation.md explains each measure."}}
	var against []*eval.MultiLabel
	for _, kind := range []struct {
		name   string
		labels *eval.MultiLabel
	}{{"given labels", r.Labels}, {"true labels", r.Truth}} {
		if kind.labels != nil {
			t.Columns, against = append(t.Columns, Column{Name: kind.name, Decimals: 1}), append(against, kind.labels)
		}
	}
	add := func(name string, scale eval.Number, decimals int, of func(*eval.MultiLabel) eval.Number) {
		row := Row{Cells: []Cell{words(name)}}
		for _, labels := range against {
			c := number(scale * of(labels))
			c.decimals = decimals
			row.Cells = append(row.Cells, c)
		}
		t.Rows = append(t.Rows, row)
	}
	if isOneClass(r) {
		for _, o := range oneClassMeasures("pictures") {
			if o.of(against[len(against)-1]).Defined() {
				add(o.name, o.scale, o.decimals, o.of)
			}
		}
		t.Notes = []string{"In %, except for the log loss. docs/guide/evaluation.md explains each measure."}
		return t
	}
	add("AP, the mean over "+ClassNoun(r).String(), 100, 1, func(l *eval.MultiLabel) eval.Number { return l.AP.All })
	for _, f := range []struct {
		at string
		of func(*eval.MultiLabel) eval.F1
	}{
		{fmt.Sprintf("θ* = %.3f", r.PlugIn), func(l *eval.MultiLabel) eval.F1 { return l.AtPlugIn.All }},
		{fmt.Sprintf("%.3g", r.Threshold), func(l *eval.MultiLabel) eval.F1 { return l.AtThreshold.All }},
	} {
		add("OF1 at "+f.at, 100, 1, func(l *eval.MultiLabel) eval.Number { return f.of(l).OF1 })
		add("CF1 at "+f.at, 100, 1, func(l *eval.MultiLabel) eval.Number { return f.of(l).CF1 })
	}
	add("ECE, the calibration error", 100, 1, func(l *eval.MultiLabel) eval.Number { return l.ECE.All })
	add("Brier score", 1, 3, func(l *eval.MultiLabel) eval.Number { return l.Brier.All })
	if x := r.Transition; x != nil && x.Q01.All.Defined() {
		note := fmt.Sprintf("Noise rates, the mean over %s: q01 %.3f, q10 %.3f", ClassNoun(r), float64(x.Q01.All),
			float64(x.Q10.All))
		if x.Q01Error.All.Defined() {
			note += fmt.Sprintf("; their error: q01 %.3f, q10 %.3f", float64(x.Q01Error.All), float64(x.Q10Error.All))
		}
		t.Notes = append(t.Notes, note+".")
	}
	if h := r.Human; h != nil {
		ap := number(100 * h.AP.All)
		t.Notes[0] += " AP up to the recall that people reach (human AP): " + ap.display(Column{Decimals: 1}) + " %."
	}
	return t
}

func measuresTable(title string, r *eval.Result, m *eval.Measures) *Table {
	names := groupNames()
	if r.GroupSize.Group == nil {
		title = strings.Replace(title, "By part of speech", "All labels", 1)
		names = names[text.POSCount:]
	}
	t := &Table{Title: title + " (%, Brier score and rates as fractions)",
		Columns: append(TextColumns("measure"), NumberColumns(2, names...)...)}
	sizes := Row{Cells: []Cell{words(ClassNoun(r).String())}}
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
	if l.OneClass != nil {
		for _, o := range oneClassMeasures("pictures") {
			if v := o.of(l); v.Defined() {
				t.groupFigures(o.name+", "+against, eval.ByGroup[eval.Number]{All: v}, o.scale, o.decimals)
			}
		}
		return
	}
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
