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
	return experimentTable(runs, func(metric) bool { return true })
}

// SummaryTable is the experiment table with the main measures alone, narrow enough for a terminal.
func SummaryTable(runs []Run) (*Table, error) {
	return experimentTable(runs, func(m metric) bool { return slices.Contains(headline, m.name) })
}

func experimentTable(runs []Run, wanted func(metric) bool) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	known := truthKnown(cells)
	columns := slices.DeleteFunc(metrics(known), func(m metric) bool { return !wanted(m) })
	t := &Table{
		Title:   "Experiment: mean ± standard deviation over seeds",
		Columns: []Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true}, {Name: "seeds"}},
		Notes:   []string{notesOn(known)},
	}
	t.addMetrics(columns, "", true)
	first := 0
	for i, c := range cells {
		row := Row{Cells: []Cell{c.noiseCell(), words(ArmName(c.arm, c.mil, c.runs[0].PaperData)), count(len(c.runs))}}
		for _, m := range columns {
			row.Cells = append(row.Cells, overSeeds(valuesOf(m, c.runs)))
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
	return t, nil
}

// sameBlock tells whether two rows are rivals: equal noise, both with or both without MIL.
func (k cellKey) sameBlock(o cellKey) bool {
	return k.noise == o.noise && k.flips == o.flips && k.mil == o.mil
}

func (t *Table) addMetrics(columns []metric, prefix string, spread bool) {
	for _, m := range columns {
		t.Columns = append(t.Columns, Column{Name: prefix + m.name, Decimals: m.decimals, Spread: spread})
	}
}

func valuesOf(m metric, runs []Run) []eval.Number {
	var values []eval.Number
	for _, r := range runs {
		values = append(values, m.scale*m.of(r.Result))
	}
	return values
}

func overSeeds(values []eval.Number) Cell {
	mean, spread := meanAndSpread(values)
	return Cell{Value: mean, Spread: spread}
}

// SeedTable has one row for each run: the figures behind ExperimentTable.
func SeedTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	known := truthKnown(cells)
	columns := metrics(known)
	t := &Table{
		Title:   "Experiment: every run",
		Columns: []Column{{Name: noiseColumn, Text: true}, {Name: "arm", Text: true}, {Name: "seed"}},
		Notes:   []string{notesOn(known)},
	}
	t.addMetrics(columns, "", false)
	for i, c := range cells {
		for j, r := range c.runs {
			row := Row{Cells: []Cell{c.noiseCell(), words(ArmName(c.arm, c.mil, r.PaperData)), words(strconv.FormatUint(r.Seed, 10))}}
			for _, m := range columns {
				row.Cells = append(row.Cells, number(m.scale*m.of(r.Result)))
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
	return "AP, F1 and ECE in percent. F1, Brier and ECE are against " + what +
		"; OF1 and CF1 are at probability 0.5 unless said, θ* is the threshold of the best expected F1."
}
