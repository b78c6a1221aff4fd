package multiclass

import (
	"nmn/eval"
	"nmn/labels/audit"
	"nmn/labels/audit/rows"
)

// Summary is a report as JSON has it.
type Summary struct {
	Bags       int             `json:"samples"`
	Form       string          `json:"form"` // "classes": one label for each bag
	Pooled     float64         `json:"pooled_rate"`
	Slope      float64         `json:"slope"`
	Noise      string          `json:"noise"`
	Agreement  float64         `json:"agreement"` // share of bags whose label has the highest score
	Classes    []ClassSummary  `json:"classes"`
	Transition [][]eval.Number `json:"transition"`      // T_yz = p(z|y): rows are true classes
	Joint      [][]int         `json:"confident_joint"` // rows are labels
	Flagged    int             `json:"confident_flagged"`
	Total      int             `json:"suspects_total"`
	Suspects   []Finding       `json:"suspects"` // the first of them
	Rows       []rows.Row      `json:"rows"`
	Found      rows.Summary    `json:"found"`
	Truth      *Judgement      `json:"truth,omitempty"`
	Applied    *audit.Outcome  `json:"correction,omitempty"`
}

// ClassSummary is a class with its noise.
type ClassSummary struct {
	Word         string  `json:"class"`
	Labels       int     `json:"labels"`
	Suspects     int     `json:"suspects"`
	True         float64 `json:"expected"`
	Right        float64 `json:"labelled_right"`
	Confused     string  `json:"mostly_labelled_otherwise"`
	ConfusedRate float64 `json:"at_rate"`
}

// Summary includes at most top of the suspects and rows, the first ones.
func (r *Report) Summary(top int) Summary {
	k := r.Input.Classes
	out := Summary{Bags: r.Input.Rows, Form: "classes", Pooled: r.Pooled, Slope: r.A, Noise: r.Noise.String(),
		Agreement: r.Agreement, Flagged: len(r.Confident.Flagged), Total: len(r.Suspects), Suspects: []Finding{},
		Rows: r.Table.Top(top), Found: r.Table.Summary(r.Known()), Truth: r.Judgement,
		Applied: r.Outcome}
	for y, c := range r.Classes {
		s := ClassSummary{Word: r.Word(y), Labels: c.Labels, Suspects: c.Suspects, True: c.True, Right: c.Right,
			Confused: r.Word(c.Confused), ConfusedRate: c.ConfusedRate}
		out.Classes = append(out.Classes, s)
		transition := make([]eval.Number, k)
		for z := range transition {
			transition[z] = eval.Number(r.T[y*k+z])
		}
		out.Transition = append(out.Transition, transition)
		out.Joint = append(out.Joint, r.Confident.Joint[y*k:(y+1)*k])
	}
	for at := range min(top, len(r.Suspects)) {
		out.Suspects = append(out.Suspects, r.Finding(at))
	}
	return out
}
