package audit

import (
	"nmn/eval"
	"nmn/labels/rates"
	"nmn/labels/rows"
)

// Summary is a report as JSON has it.
type Summary struct {
	Bags     int            `json:"bags"`
	Classes  []ClassSummary `json:"classes"`
	Total    int            `json:"suspects_total"`
	Suspects []Finding      `json:"suspects"` // the first of them
	Rows     []rows.Row     `json:"rows"`     // the first of the ranking
	Groups   []rows.Group   `json:"near_duplicates,omitempty"`
	Found    rows.Summary   `json:"found"`
	Decided  *Decided       `json:"decisions,omitempty"`
	Truth    *Judgement     `json:"truth,omitempty"`
	Applied  *Outcome       `json:"correction,omitempty"`
}

// ClassSummary is a class with its rates. Intervals and diagnoses are there where the rates were estimated.
type ClassSummary struct {
	Word              string            `json:"word"`
	Labels            int               `json:"labels"`
	Audited           bool              `json:"audited"`
	Pooled            bool              `json:"pooled,omitempty"` // with the rates of all classes together
	Q01               eval.Number       `json:"q01"`
	Q10               eval.Number       `json:"q10"`
	Q01Interval       *rates.Interval   `json:"q01_interval,omitempty"`
	Q10Interval       *rates.Interval   `json:"q10_interval,omitempty"`
	Diagnoses         []rates.Diagnosis `json:"diagnoses,omitempty"`
	ExpectedIncorrect float64           `json:"expected_incorrect"`
	ExpectedMissing   float64           `json:"expected_missing"`
	Incorrect         int               `json:"incorrect_suspects"`
	Missing           int               `json:"missing_suspects"`
}

// Summary has at most so many of the suspects, the first ones.
func (r *Report) Summary(top int) Summary {
	out := Summary{Bags: r.Bags, Total: len(r.Suspects), Suspects: []Finding{}, Truth: r.Judgement, Applied: r.Outcome, Decided: r.Decided,
		Rows: r.Table().Top(top), Groups: r.Table().Groups(top), Found: r.Table().Summary(r.Audited())}
	for c, class := range r.Result.Classes {
		s := ClassSummary{
			Word: r.Word(c), Labels: class.Positives, Audited: class.Audited, Pooled: class.Pooled,
			Q01: eval.Number(r.Rates.Q01[c]), Q10: eval.Number(r.Rates.Q10[c]),
			ExpectedIncorrect: class.ExpectedIncorrect, ExpectedMissing: class.ExpectedMissing,
			Incorrect: class.Incorrect, Missing: class.Missing,
		}
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
