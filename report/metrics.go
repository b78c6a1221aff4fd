package report

import (
	"math"

	"nmn/eval"
)

type metric struct {
	name     string
	scale    eval.Number // 100 for percent
	decimals int
	smallest bool // smaller is better
	of       func(*Run) eval.Number
}

// orUndefined is a figure of a part of the evaluation that not every run has.
func orUndefined[T any](part func(*Run) *T, of func(*T) eval.Number) func(*Run) eval.Number {
	return func(r *Run) eval.Number {
		if p := part(r); p != nil {
			return of(p)
		}
		return eval.Undefined()
	}
}

func truthOf(r *Run) *eval.MultiLabel  { return r.Result.Truth }
func labelsOf(r *Run) *eval.MultiLabel { return r.Result.Labels }

// aps is the number of the first measures, which compare arms: accuracy and three forms of AP.
const aps = 4

// measureTable lists the columns. AP refers to the true labels, mAP to the labels of the test set, and all others
// to the true labels if every run has them.
func measureTable(known bool) []metric {
	reference := labelsOf
	if known {
		reference = truthOf
	}
	percent := func(name string, of func(*Run) eval.Number) metric {
		return metric{name: name, scale: 100, decimals: 1, of: of}
	}
	fraction := func(name string, of func(*Run) eval.Number) metric {
		return metric{name: name, scale: 1, decimals: 3, smallest: true, of: of}
	}
	judged := func(of func(*eval.MultiLabel) eval.Number) func(*Run) eval.Number { return orUndefined(reference, of) }
	rate := func(of func(*eval.Transition) eval.Number) func(*Run) eval.Number {
		return orUndefined(func(r *Run) *eval.Transition { return r.Result.Transition }, of)
	}
	audited := func(of func(*AuditFigures) eval.Number) func(*Run) eval.Number {
		return orUndefined(func(r *Run) *AuditFigures { return r.Audit }, of)
	}
	ap := func(m *eval.MultiLabel) eval.Number { return m.AP.All }
	human := func(r *Run) *eval.Human { return r.Result.Human }
	ece := percent("ECE", judged(func(m *eval.MultiLabel) eval.Number { return m.ECE.All }))
	ece.smallest = true
	return []metric{
		percent("accuracy", judged(func(m *eval.MultiLabel) eval.Number {
			if m.OneClass == nil {
				return eval.Undefined()
			}
			return m.OneClass.Accuracy
		})),
		percent("AP (truth)", orUndefined(truthOf, ap)),
		percent("human AP", orUndefined(human, func(h *eval.Human) eval.Number { return h.AP.All })),
		percent("mAP (labels)", orUndefined(labelsOf, ap)),
		percent("OF1", judged(func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.OF1 })),
		percent("CF1", judged(func(m *eval.MultiLabel) eval.Number { return m.AtThreshold.All.CF1 })),
		percent("OF1 at θ*", judged(func(m *eval.MultiLabel) eval.Number { return m.AtPlugIn.All.OF1 })),
		percent("CF1 at θ*", judged(func(m *eval.MultiLabel) eval.Number { return m.AtPlugIn.All.CF1 })),
		percent("OF1 top-k", judged(func(m *eval.MultiLabel) eval.Number { return m.AtTopK.All.OF1 })),
		percent("CF1 top-k", judged(func(m *eval.MultiLabel) eval.Number { return m.AtTopK.All.CF1 })),
		fraction("Brier", judged(func(m *eval.MultiLabel) eval.Number { return m.Brier.All })),
		ece,
		fraction("q01 error", rate(func(t *eval.Transition) eval.Number { return t.Q01Error.All })),
		fraction("q10 error", rate(func(t *eval.Transition) eval.Number { return t.Q10Error.All })),
		percent("audit AP", audited(func(a *AuditFigures) eval.Number { return a.AP })),
		percent("audit AP, z=1", audited(func(a *AuditFigures) eval.Number { return a.IncorrectAP })),
		percent("audit AP, z=0", audited(func(a *AuditFigures) eval.Number { return a.MissingAP })),
		percent("audit P@1000", audited(func(a *AuditFigures) eval.Number { return a.At1000 })),
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

// meanAndSpread returns the mean of the defined values and their sample standard deviation (n-1),
// which is undefined with fewer than two values.
func meanAndSpread(values []eval.Number) (mean, spread eval.Number) {
	sum, n := 0.0, 0
	for _, v := range values {
		if v.Defined() {
			sum += float64(v)
			n++
		}
	}
	if n == 0 {
		return eval.Undefined(), eval.Undefined()
	}
	m := sum / float64(n)
	if n == 1 {
		return eval.Number(m), eval.Undefined()
	}
	squares := 0.0
	for _, v := range values {
		if v.Defined() {
			squares += (float64(v) - m) * (float64(v) - m)
		}
	}
	return eval.Number(m), eval.Number(math.Sqrt(squares / float64(n-1)))
}
