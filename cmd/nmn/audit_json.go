package main

import (
	"nmn/audit"
	"nmn/eval"
	"nmn/rates"
)

// auditJSON is what nmn audit tells machines.
type auditJSON struct {
	Bags     int                `json:"bags"`
	Classes  []auditClassJSON   `json:"classes"`
	Total    int                `json:"suspects_total"`
	Suspects []suspectJSON      `json:"suspects"` // the first --top
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

type suspectJSON struct {
	ID    string     `json:"id"`
	Word  string     `json:"word"`
	Kind  audit.Kind `json:"kind"`
	Given uint8      `json:"given"`
	Wrong float64    `json:"p_wrong"`
	P     float64    `json:"p"`
	Q01   float64    `json:"q01"`
	Q10   float64    `json:"q10"`
}

func (a *auditCommand) json(f *auditFindings) auditJSON {
	out := auditJSON{Bags: f.in.Bags, Total: len(f.result.Suspects), Suspects: []suspectJSON{}, Truth: f.judgement, Applied: f.outcome}
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
	for _, s := range f.result.Suspects[:min(a.top, len(f.result.Suspects))] {
		out.Suspects = append(out.Suspects, suspectJSON{f.in.ID(int(s.Bag)), f.in.Word(int(s.Class)), s.Kind(), s.Given, s.Error(), s.P, f.in.Rates.Q01[s.Class], f.in.Rates.Q10[s.Class]})
	}
	return out
}
