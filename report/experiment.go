package report

import (
	"fmt"

	"nmn/eval"
)

// metric is a column of the experiment table.
type metric struct {
	name     string
	scale    eval.Number // 100 for percent
	decimals int
	smallest bool // smaller is better
	of       func(*eval.Result) eval.Number
}

// reference picks the labels that the classification measures refer to.
type reference func(*eval.Result) *eval.MultiLabel

func against(f reference, of func(*eval.MultiLabel) eval.Number) func(*eval.Result) eval.Number {
	return func(r *eval.Result) eval.Number {
		if m := f(r); m != nil {
			return of(m)
		}
		return eval.Undefined()
	}
}

func truthOf(r *eval.Result) *eval.MultiLabel  { return r.Truth }
func labelsOf(r *eval.Result) *eval.MultiLabel { return r.Labels }

// metrics lists the columns. AP refers to the true labels, mAP to the labels of the test set, and
// the rest to the true labels where every run knows them.
func metrics(known bool) []metric {
	ref := labelsOf
	if known {
		ref = truthOf
	}
	f1 := func(f func(*eval.MultiLabel) eval.Number) func(*eval.Result) eval.Number { return against(ref, f) }
	rate := func(f func(*eval.Transition) eval.Number) func(*eval.Result) eval.Number {
		return func(r *eval.Result) eval.Number {
			if r.Transition == nil {
				return eval.Undefined()
			}
			return f(r.Transition)
		}
	}
	return []metric{
		{"AP (truth)", 100, 2, false, against(truthOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{"human AP", 100, 2, false, func(r *eval.Result) eval.Number {
			if r.Human == nil {
				return eval.Undefined()
			}
			return r.Human.AP.All
		}},
		{"mAP (labels)", 100, 2, false, against(labelsOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{"OF1", 100, 2, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.OF1 })},
		{"CF1", 100, 2, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.CF1 })},
		{"OF1 at θ*", 100, 2, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtPlugIn.All.OF1 })},
		{"CF1 at θ*", 100, 2, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtPlugIn.All.CF1 })},
		{"OF1 top-k", 100, 2, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtTopK.All.OF1 })},
		{"CF1 top-k", 100, 2, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtTopK.All.CF1 })},
		{"Brier", 1, 4, true, f1(func(m *eval.MultiLabel) eval.Number { return m.Brier.All })},
		{"ECE", 100, 2, true, f1(func(m *eval.MultiLabel) eval.Number { return m.ECE.All })},
		{"q01 error", 1, 3, true, rate(func(t *eval.Transition) eval.Number { return t.Q01Error.All })},
		{"q10 error", 1, 3, true, rate(func(t *eval.Transition) eval.Number { return t.Q10Error.All })},
	}
}

func truthKnown(cells []cellOf) bool {
	for _, c := range cells {
		for _, r := range c.runs {
			if r.Result.Truth == nil {
				return false
			}
		}
	}
	return len(cells) > 0
}

// ExperimentTable has one row for each noise level and arm and one column for each measure: the
// mean over the seeds and their sample standard deviation. Columns without any figure are left out.
// The best mean among the arms of a noise level, with and without MIL apart, is bold.
func ExperimentTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	known := truthKnown(cells)
	columns := metrics(known)
	t := &Table{
		Title:   "Experiment: mean ± standard deviation over seeds",
		Columns: []Column{{Name: "noise", Text: true}, {Name: "arm", Text: true}, {Name: "seeds"}},
	}
	for _, m := range columns {
		t.Columns = append(t.Columns, Column{Name: m.name, Decimals: m.decimals, Spread: true})
	}
	first := 0
	for i, c := range cells {
		row := Row{Cells: []Cell{words(percentOf(c.noise)), words(ArmName(c.arm, c.mil, c.runs[0].PaperData)), count(len(c.runs))}}
		for _, m := range columns {
			var values []eval.Number
			for _, r := range c.runs {
				values = append(values, m.scale*m.of(r.Result))
			}
			mean, spread := meanAndSpread(values)
			row.Cells = append(row.Cells, Cell{Value: mean, Spread: spread})
		}
		row.Rule = i > 0 && (cells[i-1].noise != c.noise || cells[i-1].mil != c.mil)
		if row.Rule {
			first = i
		}
		t.Rows = append(t.Rows, row)
		if i+1 == len(cells) || cells[i+1].noise != c.noise || cells[i+1].mil != c.mil {
			t.markBlock(columns, first)
		}
	}
	t.dropEmptyColumns()
	t.Notes = []string{notesOn(known)}
	return t, nil
}

func (t *Table) markBlock(columns []metric, first int) {
	for j, m := range columns {
		t.markBest(3+j, first, len(t.Rows), m.smallest, func(int) bool { return true })
	}
}

func notesOn(known bool) string {
	what := "the labels of the test captions"
	if known {
		what = "the true labels"
	}
	return "AP, F1 and ECE in percent. F1, Brier and ECE are against " + what +
		"; OF1 and CF1 are at probability 0.5 unless said, θ* is the threshold of the best expected F1."
}

// PairedTable compares every arm with star at the same noise level, MIL setting and seed: the mean
// difference of each measure over the seeds that both have, its sample standard deviation, and in
// how many of those seeds the arm is ahead in AP. A positive difference is better for AP and F1, a
// negative one for Brier and ECE. Rows exist only where star has been run.
func PairedTable(runs []Run) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	at := map[cellKey]cellOf{}
	for _, c := range cells {
		at[c.cellKey] = c
	}
	columns := metrics(truthKnown(cells))
	t := &Table{
		Title:   "Paired differences against star: mean ± standard deviation over seeds",
		Columns: []Column{{Name: "noise", Text: true}, {Name: "arm", Text: true}, {Name: "seeds"}, {Name: "ahead in AP"}},
	}
	for _, m := range columns {
		t.Columns = append(t.Columns, Column{Name: "Δ " + m.name, Decimals: m.decimals, Spread: true})
	}
	var last cellKey
	for _, c := range cells {
		star, ok := at[cellKey{c.noise, c.mil, Star}]
		if c.arm == Star || !ok {
			continue
		}
		a, b := pairs(c.runs, star.runs)
		if len(a) == 0 {
			continue
		}
		row := Row{Cells: []Cell{words(percentOf(c.noise)), words(ArmName(c.arm, c.mil, a[0].PaperData)), count(len(a)), words(ahead(a, b))}}
		for _, m := range columns {
			mean, spread := meanAndSpread(differences(m, a, b))
			row.Cells = append(row.Cells, Cell{Value: mean, Spread: spread})
		}
		row.Rule = len(t.Rows) > 0 && (last.noise != c.noise || last.mil != c.mil)
		last = c.cellKey
		t.Rows = append(t.Rows, row)
	}
	t.dropEmptyColumns()
	t.Notes = []string{"AP, F1 and ECE in points of percent."}
	return t, nil
}

// pairs returns the runs of both lists with equal seeds, in order.
func pairs(a, b []Run) (left, right []Run) {
	for _, x := range a {
		for _, y := range b {
			if x.Seed == y.Seed {
				left, right = append(left, x), append(right, y)
			}
		}
	}
	return left, right
}

func differences(m metric, a, b []Run) []eval.Number {
	var out []eval.Number
	for i := range a {
		out = append(out, m.scale*(m.of(a[i].Result)-m.of(b[i].Result)))
	}
	return out
}

// ahead counts the seeds in which a is better in AP: against the truth where known, else with human
// agreement, else against labels.
func ahead(a, b []Run) string {
	for _, m := range metrics(true)[:3] {
		better, defined := 0, 0
		for _, d := range differences(m, a, b) {
			if d.Defined() {
				defined++
			}
			if d > 0 {
				better++
			}
		}
		if defined > 0 {
			return fmt.Sprintf("%d/%d", better, defined)
		}
	}
	return dash
}
