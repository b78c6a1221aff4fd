package audit

import (
	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/audit/rows"
	"nmn/labels/rates"
)

// Counts are the numbers that tables, page and JSON show of an audit.
type Counts struct {
	Bags       int `json:"samples"`
	Labels     int `json:"labels"`         // that are there, of all classes
	Audited    int `json:"audited_labels"` // known labels, there or not, of audited classes
	Suspects   int `json:"suspects"`       // among the audited labels
	Open       int `json:"open_suspects"`  // without a decision
	Classes    int `json:"classes"`        // all of them
	Pooled     int `json:"pooled_classes"` // audited with pooled rates
	NotAudited int `json:"classes_not_audited"`
	// Labels that are expected to be wrong, in classes with rates of their own; nothing is claimed for pooled
	// classes.
	Incorrect float64 `json:"expected_incorrect"`
	Missing   float64 `json:"expected_missing"`
}

// Counts returns the numbers of the report.
func (r *Report) Counts() Counts {
	out := Counts{Bags: r.Bags, Suspects: len(r.Suspects), Open: len(r.Open()), Classes: len(r.Result.Classes)}
	for _, c := range r.Result.Classes {
		out.Labels += c.Positives
		if !c.Audited {
			out.NotAudited++
			continue
		}
		out.Audited += r.Bags
		if c.Pooled {
			out.Pooled++
			continue
		}
		out.Incorrect += c.ExpectedIncorrect
		out.Missing += c.ExpectedMissing
	}
	for i, z := range r.Labels {
		if z == table.Unknown && r.Result.Classes[i%r.Input.Classes].Audited {
			out.Audited--
		}
	}
	return out
}

// Expected returns the expected number of wrong labels of the class. It is undefined for a class with pooled
// rates, for which nothing is claimed.
func (c *Class) Expected() (incorrect, missing eval.Number) {
	if !c.Audited || c.Pooled {
		return eval.Undefined(), eval.Undefined()
	}
	return eval.Number(c.ExpectedIncorrect), eval.Number(c.ExpectedMissing)
}

// Summary is a report as JSON has it.
type Summary struct {
	Bags     int            `json:"samples"`
	Counts   Counts         `json:"counts"`
	Classes  []ClassSummary `json:"classes"`
	Total    int            `json:"suspects_total"`
	Suspects []Finding      `json:"suspects"` // the first of them
	Rows     []rows.Row     `json:"rows"`     // the first of the ranking
	Found    rows.Summary   `json:"found"`
	Decided  *Decided       `json:"decisions,omitempty"`
	Truth    *Judgement     `json:"truth,omitempty"`
	Applied  *Outcome       `json:"correction,omitempty"`
}

// ClassSummary is a class with its rates. Intervals and diagnoses are present if the rates were estimated.
type ClassSummary struct {
	Word              string            `json:"class"`
	Labels            int               `json:"labels"`
	Audited           bool              `json:"audited"`
	Pooled            bool              `json:"pooled,omitempty"` // with the rates of all classes together
	Q01               eval.Number       `json:"q01"`
	Q10               eval.Number       `json:"q10"`
	Q01Interval       *rates.Interval   `json:"q01_interval,omitempty"`
	Q10Interval       *rates.Interval   `json:"q10_interval,omitempty"`
	Diagnoses         []rates.Diagnosis `json:"diagnoses,omitempty"`
	ExpectedIncorrect eval.Number       `json:"expected_incorrect"` // see Class.Expected
	ExpectedMissing   eval.Number       `json:"expected_missing"`
	Incorrect         int               `json:"incorrect_suspects"`
	Missing           int               `json:"missing_suspects"`
}

// Summary includes at most top of the suspects, the first ones.
func (r *Report) Summary(top int) Summary {
	counts := r.Counts()
	out := Summary{Bags: counts.Bags, Counts: counts, Total: counts.Suspects, Suspects: []Finding{}, Truth: r.Judgement,
		Applied: r.Outcome, Decided: r.Decided, Rows: r.Table().Top(top),
		Found: r.Table().Summary(counts.Audited)}
	for c, class := range r.Result.Classes {
		s := ClassSummary{
			Word: r.Word(c), Labels: class.Positives, Audited: class.Audited, Pooled: class.Pooled,
			Q01: eval.Number(r.Rates.Q01[c]), Q10: eval.Number(r.Rates.Q10[c]),
			Incorrect: class.Incorrect, Missing: class.Missing,
		}
		s.ExpectedIncorrect, s.ExpectedMissing = class.Expected()
		if r.Estimate != nil {
			e := r.Estimate.Classes[c].Believed(r.Estimate.Confidence)
			s.Q01Interval, s.Q10Interval, s.Diagnoses = &e.Q01Interval, &e.Q10Interval, e.Diagnoses
		}
		out.Classes = append(out.Classes, s)
	}
	for at, s := range r.Suspects[:min(top, len(r.Suspects))] {
		out.Suspects = append(out.Suspects, r.Finding(at, s))
	}
	return out
}
