package report

import (
	"cmp"
	"slices"

	"nmn/eval"
)

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
	t.Notes = append(t.Notes, "The epoch has the highest AP in this table. It counts from the end of stage 1 if "+
		"the length of "+
		"stage 1 is fixed. This is an upper bound for early stopping, not a result.")
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

// after are the runs as they were after an epoch.
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
