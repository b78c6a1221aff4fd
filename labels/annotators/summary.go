package annotators

import (
	"context"
	"fmt"

	"nmn/eval"
	"nmn/labels/rates"
)

// AuditFiles reads files and estimates.
func AuditFiles(ctx context.Context, f Files, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	t, err := f.Read(ctx)
	if err != nil {
		return nil, err
	}
	r, err := Estimate(ctx, t.Input, o)
	if err != nil {
		return nil, err
	}
	report := &Report{t, r}
	report.noteUnknown()
	return report, nil
}

// noteUnknown counts the bags without a row.
func (r *Report) noteUnknown() {
	answered, n := make([]bool, r.Result.Bags), r.Result.Bags
	for i := range r.Rows {
		if bag := r.Rows[i].Bag; !answered[bag] {
			answered[bag] = true
			n--
		}
	}
	if n > 0 {
		r.Result.Notes = append(r.Result.Notes, fmt.Sprintf(
			"No annotator answered %d of %d samples: the consensus leaves their labels "+
				"unknown.", n, r.Result.Bags))
	}
}

// Summary is a report as JSON has it.
type Summary struct {
	Bags       int                `json:"samples"`
	Labels     int                `json:"labels"` // different ones: classes
	Rows       int                `json:"rows"`
	Outside    int                `json:"labels_outside"` // left out, for the vocabulary lacks them
	Exclusive  bool               `json:"exclusive"`      // classes exclude each other
	Agreement  eval.Number        `json:"agreement"`
	Pooled     PooledSummary      `json:"all_annotators"`
	Consensus  ConsensusSummary   `json:"consensus"`
	Notes      []string           `json:"notes"`
	Iterations int                `json:"iterations"`
	Classes    []ClassSummary     `json:"classes"`
	Annotators []AnnotatorSummary `json:"annotators"`
}

// ClassSummary is a label. With evidence E, its posterior is sigmoid(logit Frequency + E), or with scores of log-odds o
// sigmoid(Slope o + Offset + E).
type ClassSummary struct {
	Label     string      `json:"label"`
	Expected  float64     `json:"expected"` // true labels
	Frequency eval.Number `json:"frequency"`
	Slope     eval.Number `json:"slope"`
	Offset    eval.Number `json:"offset"`
}

// PooledSummary is the prior of the rates of single annotators.
type PooledSummary struct {
	Q01        float64 `json:"q01"`
	Q10        float64 `json:"q10"`
	Strength01 float64 `json:"strength01"`
	Strength10 float64 `json:"strength10"`
}

// ConsensusSummary is what to expect of the labels that probably hold.
type ConsensusSummary struct {
	Labels    int         `json:"labels"`
	Incorrect float64     `json:"expected_incorrect"`
	Missing   float64     `json:"expected_missing"`
	Wrong     eval.Number `json:"expected_wrong"`   // share of the labels that are there
	Lacking   eval.Number `json:"expected_lacking"` // share of the true labels
}

// AnnotatorSummary describes an annotator. Intervals are null if the rates are not the annotator's own.
type AnnotatorSummary struct {
	Annotator    string          `json:"annotator"`
	Bags         int             `json:"samples"`
	Shared       int             `json:"shared"`
	Asked        float64         `json:"asked"`
	Given        float64         `json:"given"`
	Q01          float64         `json:"q01"`
	Q01Interval  *rates.Interval `json:"q01_interval"`
	Q10          float64         `json:"q10"`
	Q10Interval  *rates.Interval `json:"q10_interval"`
	Informedness float64         `json:"informedness"`
	Accuracy     eval.Number     `json:"accuracy"`
	Incorrect    float64         `json:"expected_incorrect"`
	Missing      float64         `json:"expected_missing"`
	Agreement    eval.Number     `json:"agreement"`
	Remarks      []Remark        `json:"remarks"`
}

// ConsensusShares are the expected shares of the consensus' labels that are wrong, and of the true labels that it
// lacks.
func (r *Result) ConsensusShares() (wrong, lacking eval.Number) {
	consensus := float64(r.Consensus) // without any, the shares are NaN
	return eval.Number(r.Incorrect / consensus), eval.Number(r.Missing / (consensus - r.Incorrect + r.Missing))
}

// Summary lists all annotators, in order of appearance.
func (r *Report) Summary() Summary {
	wrong, lacking := r.ConsensusShares()
	s := Summary{Bags: r.Result.Bags, Labels: r.Result.Classes, Rows: len(r.Rows), Outside: r.Outside,
		Exclusive: r.Exclusive, Agreement: eval.Number(r.Agreement), Iterations: r.Iterations, Notes: r.Notes,
		Pooled: PooledSummary{Q01: r.PooledQ01, Q10: r.PooledQ10, Strength01: r.Strength01, Strength10: r.Strength10},
		Consensus: ConsensusSummary{Labels: r.Consensus, Incorrect: r.Incorrect, Missing: r.Missing, Wrong: wrong,
			Lacking: lacking}}
	for k, word := range r.Words {
		c := ClassSummary{Label: word, Expected: r.Expected[k], Frequency: eval.Undefined(), Slope: eval.Undefined(),
			Offset: eval.Undefined()}
		if r.Prior != nil {
			c.Frequency = eval.Number(r.Prior[k])
		} else {
			c.Slope, c.Offset = eval.Number(r.A[k]), eval.Number(r.B[k])
		}
		s.Classes = append(s.Classes, c)
	}
	if s.Notes == nil {
		s.Notes = []string{}
	}
	for j := range r.Result.Annotators {
		a := &r.Result.Annotators[j]
		line := AnnotatorSummary{Annotator: r.AnnotatorNames[j], Bags: a.Bags, Shared: a.Shared, Asked: a.Asked,
			Given: a.Given, Q01: a.Q01, Q10: a.Q10, Informedness: a.Informedness, Accuracy: eval.Number(a.Accuracy),
			Incorrect: a.Incorrect, Missing: a.Missing, Agreement: eval.Number(a.Agreement), Remarks: a.Remarks}
		if a.Told {
			line.Q01Interval, line.Q10Interval = &a.Q01Interval, &a.Q10Interval
		}
		if line.Remarks == nil {
			line.Remarks = []Remark{}
		}
		s.Annotators = append(s.Annotators, line)
	}
	return s
}
