package report

import "nmn/eval"

// metric is a column of the experiment table.
type metric struct {
	name     string
	scale    eval.Number // 100 for percent
	decimals int
	smallest bool // smaller is better
	of       func(*Run) eval.Number
}

// reference picks the labels that the classification measures refer to.
type reference func(*eval.Result) *eval.MultiLabel

func against(f reference, of func(*eval.MultiLabel) eval.Number) func(*Run) eval.Number {
	return func(r *Run) eval.Number {
		if m := f(r.Result); m != nil {
			return of(m)
		}
		return eval.Undefined()
	}
}

func truthOf(r *eval.Result) *eval.MultiLabel  { return r.Truth }
func labelsOf(r *eval.Result) *eval.MultiLabel { return r.Labels }

// orUndefined is a figure of a part of the evaluation that not every run has.
func orUndefined[T any](part func(*Run) *T, of func(*T) eval.Number) func(*Run) eval.Number {
	return func(r *Run) eval.Number {
		if p := part(r); p != nil {
			return of(p)
		}
		return eval.Undefined()
	}
}

func human(of func(*eval.Human) eval.Number) func(*Run) eval.Number {
	return orUndefined(func(r *Run) *eval.Human { return r.Result.Human }, of)
}

func rate(of func(*eval.Transition) eval.Number) func(*Run) eval.Number {
	return orUndefined(func(r *Run) *eval.Transition { return r.Result.Transition }, of)
}

func audited(of func(*AuditFigures) eval.Number) func(*Run) eval.Number {
	return orUndefined(func(r *Run) *AuditFigures { return r.Audit }, of)
}

// metrics lists the columns. AP refers to the true labels, mAP to the labels of the test set, and
// the rest to the true labels where every run knows them. The first three are forms of AP.
func measureTable(known bool) []metric {
	ref := labelsOf
	if known {
		ref = truthOf
	}
	f1 := func(f func(*eval.MultiLabel) eval.Number) func(*Run) eval.Number { return against(ref, f) }
	return []metric{
		{"AP (truth)", 100, 1, false, against(truthOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{"human AP", 100, 1, false, human(func(h *eval.Human) eval.Number { return h.AP.All })},
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
		{"audit AP", 100, 1, false, audited(func(a *AuditFigures) eval.Number { return a.AP })},
		{"audit AP, z=1", 100, 1, false, audited(func(a *AuditFigures) eval.Number { return a.IncorrectAP })},
		{"audit AP, z=0", 100, 1, false, audited(func(a *AuditFigures) eval.Number { return a.MissingAP })},
		{"audit P@1000", 100, 1, false, audited(func(a *AuditFigures) eval.Number { return a.At1000 })},
	}
}

// Columns that tell where the threshold θ* and the audit of a row come from.
const (
	thresholdColumn = "θ* from"
	auditColumn     = "audit by"
)

// mainMeasures are those of a summary, furtherMeasures those of its details; without a known truth
// mAP (labels) is among the main ones.
var (
	mainMeasures    = []string{"AP (truth)", "human AP", "OF1", "CF1", "OF1 at θ*", "CF1 at θ*", "Brier"}
	furtherMeasures = []string{"ECE", "q01 error", "q10 error", "audit AP", "audit AP, z=1", "audit AP, z=0",
		"audit P@1000", thresholdColumn, auditColumn}
)

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
