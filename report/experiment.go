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
	t, columns := armTable(cells, Column{Name: "seeds"})
	sources := sourcesOf(cells)
	for _, s := range sources {
		t.Columns = append(t.Columns, Column{Name: s.name, Text: true})
	}
	first := 0
	for i, c := range cells {
		figures := []Cell{count(len(c.runs))}
		for _, m := range columns {
			figures = append(figures, overSeeds(valuesOf(m, c.runs)))
		}
		for _, s := range sources {
			figures = append(figures, words(s.of(&c.runs[0])))
		}
		t.addArm(c, c.runs[0].Title(), figures)
		if t.Rows[i].Rule {
			first = i
		}
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

// armTable begins a table of measures of arms, and returns the measures. More columns stand between arm and measures.
func armTable(cells []cellOf, more ...Column) (*Table, []metric) {
	known := truthKnown(cells)
	t := &Table{Columns: append([]Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true}}, more...),
		Notes: []string{notesOn(known)}}
	columns := measureTable(known)
	for _, m := range columns {
		t.Columns = append(t.Columns, Column{Name: m.name, Decimals: m.decimals, Spread: true})
	}
	return t, columns
}

// addArm adds a row of an arm. A rule stands between arms that are no rivals.
func (t *Table) addArm(c cellOf, title string, figures []Cell) {
	row := Row{Cells: append([]Cell{c.noiseCell(), words(title)}, figures...), block: c.setting()}
	row.Rule = len(t.Rows) > 0 && t.Rows[len(t.Rows)-1].block != row.block
	t.Rows = append(t.Rows, row)
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
	t, columns := armTable(cells, Column{Name: "seed"})
	t.Title = "Experiment: every run"
	for i := range t.Columns {
		t.Columns[i].Spread = false
	}
	for _, c := range cells {
		for _, r := range c.runs {
			figures := []Cell{words(strconv.FormatUint(r.Seed, 10))}
			for _, m := range columns {
				figures = append(figures, number(m.scale*m.of(&r)))
			}
			t.addArm(c, r.Title(), figures)
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
