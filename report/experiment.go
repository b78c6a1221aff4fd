package report

import (
	"cmp"
	"fmt"
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
	t.Columns = append(t.Columns, Column{Name: thresholdColumn, Text: true}, Column{Name: auditColumn, Text: true})
	for _, c := range cells {
		figures := []Cell{count(len(c.runs))}
		for _, m := range columns {
			figures = append(figures, overSeeds(valuesOf(m, c.runs)))
		}
		r, auditBy := &c.runs[0], ""
		if r.Audit != nil {
			auditBy = r.Audit.From
		}
		t.addArm(c, r.Title(), append(figures, words(r.ThresholdFrom), words(auditBy)))
	}
	for j, m := range columns {
		t.markBest(3+j, m.smallest)
	}
	t.dropEmptyColumns()
	t.dropIfEmpty(thresholdColumn, auditColumn)
	t.spreadTitle("Experiment: ", "one seed")
	return t, nil
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

// Epoch is the evaluation of a run after one of its epochs, on the set that the run is judged on.
type Epoch struct {
	Number int // from the end of stage 1 where its length is fixed: 0 is that end. Else of the training itself, from 1
	Result *eval.Result
	Audit  *AuditFigures // nil where the truth is not known
}

// EpochTable has one row for each noise level, arm and epoch that all seeds of the arm have: means over
// the seeds and their sample standard deviation. Runs without epochs are left out.
func EpochTable(runs []Run) (*Table, error) {
	t, err := epochTable(runs, "", cellOf.commonEpochs)
	if err != nil {
		return nil, err
	}
	t.spreadTitle("Experiment: every epoch, ", "one seed")
	return t, nil
}

// BestEpochTable has one row for each noise level and arm, at the epoch with the highest mean AP over its
// seeds: against the true labels if known, otherwise with human agreement, otherwise against the labels. The
// choice uses the figures that the table shows, which is possible only if the truth is known.
func BestEpochTable(runs []Run) (*Table, error) {
	t, err := epochTable(runs, "Every arm at its best epoch, chosen by the true labels of the test set", cellOf.bestEpoch)
	if err != nil {
		return nil, err
	}
	t.Notes = append(t.Notes, "The epoch has the highest AP in this table. It counts from the end of stage 1 if the "+
		"length of stage 1 is fixed. This is an upper bound for early stopping, not a result.")
	return t, nil
}

func epochTable(runs []Run, title string, epochs func(cellOf) []int) (*Table, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	t, columns := armTable(cells, Column{Name: "epoch"}, Column{Name: "seeds"})
	t.Title = title
	for _, c := range cells {
		for _, epoch := range epochs(c) {
			at := c.after(epoch)
			figures := []Cell{count(epoch), count(len(at))}
			for _, m := range columns {
				figures = append(figures, overSeeds(valuesOf(m, at)))
			}
			t.addArm(c, c.runs[0].Title(), figures)
		}
	}
	t.dropEmptyColumns()
	return t, nil
}

// commonEpochs are those that every run of the cell has.
func (c cellOf) commonEpochs() []int {
	var common []int
	for i, r := range c.runs {
		var has []int
		for _, e := range r.Epochs {
			if i == 0 || slices.Contains(common, e.Number) {
				has = append(has, e.Number)
			}
		}
		common = has
	}
	return common
}

func (c cellOf) after(epoch int) []Run {
	runs := slices.Clone(c.runs)
	for i, r := range runs {
		at := slices.IndexFunc(r.Epochs, func(e Epoch) bool { return e.Number == epoch })
		runs[i].Result, runs[i].Audit = r.Epochs[at].Result, r.Epochs[at].Audit
	}
	return runs
}

// bestEpoch returns the first common epoch with the highest AP, or nil if there is no common epoch.
func (c cellOf) bestEpoch() []int {
	epochs := c.commonEpochs()
	for _, m := range measureTable(true)[:aps] {
		ap := func(epoch int) eval.Number { return overSeeds(valuesOf(m, c.after(epoch))).Value }
		if len(epochs) > 0 && ap(epochs[0]).Defined() {
			return []int{slices.MinFunc(epochs, func(a, b int) int { return cmp.Compare(ap(b), ap(a)) })}
		}
	}
	return nil
}

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

func titleOf(runs []Run, arm string) string {
	if i := slices.IndexFunc(runs, func(r Run) bool { return r.Arm == arm }); i >= 0 {
		return runs[i].armTitle()
	}
	return arm
}
