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

// metrics lists the columns. AP refers to the true labels, mAP to the labels of the test set, and all others
// to the true labels if every run has them. The first ones, aps in number, compare arms.
const aps = 4 // accuracy and three forms of AP

func measureTable(known bool) []metric {
	ref := labelsOf
	if known {
		ref = truthOf
	}
	f1 := func(f func(*eval.MultiLabel) eval.Number) func(*Run) eval.Number { return against(ref, f) }
	return []metric{
		{name: "accuracy", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			if m.OneClass == nil {
				return eval.Undefined()
			}
			return m.OneClass.Accuracy
		})},
		{name: "AP (truth)", scale: 100, decimals: 1, smallest: false,
			of: against(truthOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{name: "human AP", scale: 100, decimals: 1, smallest: false, of: human(func(h *eval.Human) eval.Number {
			return h.AP.All
		})},
		{name: "mAP (labels)", scale: 100, decimals: 1, smallest: false,
			of: against(labelsOf, func(m *eval.MultiLabel) eval.Number { return m.AP.All })},
		{name: "OF1", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.AtThreshold.All.OF1
		})},
		{name: "CF1", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.AtThreshold.All.CF1
		})},
		{name: "OF1 at θ*", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.AtPlugIn.All.OF1
		})},
		{name: "CF1 at θ*", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.AtPlugIn.All.CF1
		})},
		{name: "OF1 top-k", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.AtTopK.All.OF1
		})},
		{name: "CF1 top-k", scale: 100, decimals: 1, smallest: false, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.AtTopK.All.CF1
		})},
		{name: "Brier", scale: 1, decimals: 3, smallest: true, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.Brier.All
		})},
		{name: "ECE", scale: 100, decimals: 1, smallest: true, of: f1(func(m *eval.MultiLabel) eval.Number {
			return m.ECE.All
		})},
		{name: "q01 error", scale: 1, decimals: 3, smallest: true, of: rate(func(t *eval.Transition) eval.Number {
			return t.Q01Error.All
		})},
		{name: "q10 error", scale: 1, decimals: 3, smallest: true, of: rate(func(t *eval.Transition) eval.Number {
			return t.Q10Error.All
		})},
		{name: "audit AP", scale: 100, decimals: 1, smallest: false, of: audited(func(a *AuditFigures) eval.Number {
			return a.AP
		})},
		{name: "audit AP, z=1", scale: 100, decimals: 1, smallest: false, of: audited(func(a *AuditFigures) eval.Number {
			return a.IncorrectAP
		})},
		{name: "audit AP, z=0", scale: 100, decimals: 1, smallest: false, of: audited(func(a *AuditFigures) eval.Number {
			return a.MissingAP
		})},
		{name: "audit P@1000", scale: 100, decimals: 1, smallest: false, of: audited(func(a *AuditFigures) eval.Number {
			return a.At1000
		})},
	}
}

// Columns with the origin of the threshold θ* and of the audit.
const (
	thresholdColumn = "θ* from"
	auditColumn     = "audit by"
)

// mainMeasures are the measures of a summary, and furtherMeasures the measures of its details. Without known
// truth, mAP (labels) is a main measure too.
var (
	mainMeasures    = []string{"accuracy", "AP (truth)", "human AP", "OF1", "CF1", "OF1 at θ*", "CF1 at θ*", "Brier"}
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
