package main

import (
	"nmn/eval"
	"nmn/labels/audit"
	"nmn/labels/rates"
)

// auditJSON is the JSON of nmn audit.
type auditJSON struct {
	Bags     int                `json:"bags"`
	Classes  []auditClassJSON   `json:"classes"`
	Total    int                `json:"suspects_total"`
	Suspects []audit.Finding    `json:"suspects"` // the first --top
	Truth    *audit.Judgement   `json:"truth,omitempty"`
	Applied  *correctionOutcome `json:"correction,omitempty"`
}

type auditClassJSON struct {
	Word              string            `json:"word"`
	Labels            int               `json:"labels"`
	Audited           bool              `json:"audited"`
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

func (a *auditCommand) json(f *auditFindings) auditJSON {
	out := auditJSON{Bags: f.in.Bags, Total: len(f.result.Suspects), Suspects: []audit.Finding{}, Truth: f.judgement, Applied: f.outcome}
	for c, class := range f.result.Classes {
		j := auditClassJSON{
			Word: f.in.Word(c), Labels: class.Positives, Audited: class.Audited, Q01: eval.Number(f.in.Rates.Q01[c]), Q10: eval.Number(f.in.Rates.Q10[c]),
			ExpectedIncorrect: class.ExpectedIncorrect, ExpectedMissing: class.ExpectedMissing, Incorrect: class.Incorrect, Missing: class.Missing,
		}
		if f.estimate != nil {
			e := &f.estimate.Classes[c]
			j.Q01Interval, j.Q10Interval, j.Diagnoses = &e.Q01Interval, &e.Q10Interval, e.Diagnoses
		}
		out.Classes = append(out.Classes, j)
	}
	for at, s := range f.result.Suspects[:min(a.top, len(f.result.Suspects))] {
		out.Suspects = append(out.Suspects, f.in.Finding(at, s))
	}
	return out
}
