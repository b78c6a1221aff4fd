package report

import (
	"fmt"
	"slices"

	"nmn/eval"
)

// PairedTable compares every arm with a reference such as the baseline, at equal noise level, MIL setting and
// seed: the mean difference of each measure over their common seeds, its sample standard deviation, and the
// number of seeds in which the arm is ahead in AP. A positive difference is better for AP, F1 and audit, a
// negative one for Brier, ECE and errors. Rows exist only if the reference has been run.
func PairedTable(runs []Run, reference string) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	at := map[cellKey]cellOf{} // the cells of the reference, without its name
	for _, c := range cells {
		if c.arm == reference {
			at[c.setting()] = c
		}
	}
	t, columns := armTable(cells, Column{Name: "seeds"}, Column{Name: "ahead in AP"})
	t.Notes = []string{"AP, F1, ECE and audit in points of percent."}
	for i := range columns {
		t.Columns[4+i].Name = "Δ " + columns[i].name
	}
	for _, c := range cells {
		other, ok := at[c.setting()]
		if c.arm == reference || !ok {
			continue
		}
		a, b := pairs(c.runs, other.runs)
		if len(a) == 0 {
			continue
		}
		figures := []Cell{count(len(a)), words(ahead(a, b))}
		for _, m := range columns {
			figures = append(figures, overSeeds(differences(m, a, b)))
		}
		t.addArm(c, a[0].Title(), figures)
	}
	t.dropEmptyColumns()
	t.spreadTitle("Paired differences against "+titleOf(runs, reference)+": ", "of the same seed")
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
		out = append(out, m.scale*(m.of(&a[i])-m.of(&b[i])))
	}
	return out
}

// ahead counts the seeds in which a is better in AP: against the truth if known, otherwise with human
// agreement, otherwise against labels.
func ahead(a, b []Run) string {
	for _, m := range measureTable(true)[:aps] {
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

// titleOf is what tables call an arm without MIL.
func titleOf(runs []Run, arm string) string {
	if i := slices.IndexFunc(runs, func(r Run) bool { return r.Arm == arm }); i >= 0 {
		return runs[i].armTitle()
	}
	return arm
}
