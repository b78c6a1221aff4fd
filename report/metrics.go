package report

import "nmn/eval"

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
		{"AP (truth)", 100, 1, false, against(truthOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{"human AP", 100, 1, false, func(r *eval.Result) eval.Number {
			if r.Human == nil {
				return eval.Undefined()
			}
			return r.Human.AP.All
		}},
		{"mAP (labels)", 100, 1, false, against(labelsOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{"OF1", 100, 1, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.OF1 })},
		{"CF1", 100, 1, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.CF1 })},
		{"OF1 at θ*", 100, 1, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtPlugIn.All.OF1 })},
		{"CF1 at θ*", 100, 1, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtPlugIn.All.CF1 })},
		{"OF1 top-k", 100, 1, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtTopK.All.OF1 })},
		{"CF1 top-k", 100, 1, false, f1(func(m *eval.MultiLabel) eval.Number { return m.AtTopK.All.CF1 })},
		{"Brier", 1, 3, true, f1(func(m *eval.MultiLabel) eval.Number { return m.Brier.All })},
		{"ECE", 100, 1, true, f1(func(m *eval.MultiLabel) eval.Number { return m.ECE.All })},
		{"q01 error", 1, 3, true, rate(func(t *eval.Transition) eval.Number { return t.Q01Error.All })},
		{"q10 error", 1, 3, true, rate(func(t *eval.Transition) eval.Number { return t.Q10Error.All })},
	}
}

// headline are the columns of the short table, which fits a terminal.
var headline = []string{"AP (truth)", "human AP", "OF1", "CF1", "OF1 at θ*", "Brier", "ECE", "q01 error", "q10 error"}

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
