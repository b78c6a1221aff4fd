package report

import (
	"slices"
	"strconv"

	"nmn/eval"
)

// ExperimentTable has one row for each noise level and arm and one column for each measure: the
// mean over the seeds and their sample standard deviation. Columns without any figure are left out.
// The best mean among the arms of a noise level, with and without MIL apart, is bold.
func ExperimentTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	known := truthKnown(cells)
	columns := measureTable(known)
	t := &Table{
		Columns: []Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true}, {Name: "seeds"}},
		Notes:   []string{notesOn(known)},
	}
	t.addMetrics(columns, "", true)
	sources := sourcesOf(cells)
	for _, s := range sources {
		t.Columns = append(t.Columns, Column{Name: s.name, Text: true})
	}
	first := 0
	for i, c := range cells {
		row := Row{Cells: []Cell{c.noiseCell(), words(c.runs[0].Title()), count(len(c.runs))}}
		for _, m := range columns {
			row.Cells = append(row.Cells, overSeeds(valuesOf(m, c.runs)))
		}
		for _, s := range sources {
			row.Cells = append(row.Cells, words(s.of(&c.runs[0])))
		}
		if row.Rule = i > 0 && !cells[i-1].sameBlock(c.cellKey); row.Rule {
			first = i
		}
		t.Rows = append(t.Rows, row)
		if i+1 == len(cells) || !cells[i+1].sameBlock(c.cellKey) {
			for j, m := range columns {
				t.markBest(3+j, first, m.smallest)
			}
		}
	}
	t.dropEmptyColumns()
	t.spreadTitle("Experiment: ", "one seed")
	return t, nil
}

// source is a column with the origin of figures.
type source struct {
	name string
	of   func(*Run) string
}

// sourcesOf returns the columns that any run has.
func sourcesOf(cells []cellOf) []source {
	all := []source{
		{thresholdColumn, func(r *Run) string { return r.ThresholdFrom }},
		{auditColumn, func(r *Run) string {
			if r.Audit == nil {
				return ""
			}
			return r.Audit.From
		}},
	}
	return slices.DeleteFunc(all, func(s source) bool {
		return !slices.ContainsFunc(cells, func(c cellOf) bool { return s.of(&c.runs[0]) != "" })
	})
}

// sameBlock reports whether two rows are rivals: equal noise, both with or both without MIL.
func (k cellKey) sameBlock(o cellKey) bool {
	return k.setting() == o.setting()
}

func (t *Table) addMetrics(columns []metric, prefix string, spread bool) {
	for _, m := range columns {
		t.Columns = append(t.Columns, Column{Name: prefix + m.name, Decimals: m.decimals, Spread: spread})
	}
}

func valuesOf(m metric, runs []Run) []eval.Number {
	var values []eval.Number
	for i := range runs {
		values = append(values, m.scale*m.of(&runs[i]))
	}
	return values
}

func overSeeds(values []eval.Number) Cell {
	mean, spread := meanAndSpread(values)
	return Cell{Value: mean, Spread: spread}
}

// SeedTable has one row for each run: the figures that ExperimentTable averages.
func SeedTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	known := truthKnown(cells)
	columns := measureTable(known)
	t := &Table{
		Title:   "Experiment: every run",
		Columns: []Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true}, {Name: "seed"}},
		Notes:   []string{notesOn(known)},
	}
	t.addMetrics(columns, "", false)
	for i, c := range cells {
		for j, r := range c.runs {
			row := Row{Cells: []Cell{c.noiseCell(), words(r.Title()), words(strconv.FormatUint(r.Seed, 10))}}
			for _, m := range columns {
				row.Cells = append(row.Cells, number(m.scale*m.of(&r)))
			}
			row.Rule = j == 0 && i > 0 && !cells[i-1].sameBlock(c.cellKey)
			t.Rows = append(t.Rows, row)
		}
	}
	t.dropEmptyColumns()
	return t, nil
}

func notesOn(known bool) string {
	what := "the labels of the test captions"
	if known {
		what = "the true labels"
	}
	return "AP, F1, ECE and audit in percent. F1, Brier and ECE are against " + what +
		". OF1 and CF1 use the probability 0.5 unless stated. θ* is the threshold with the best expected F1."
}
