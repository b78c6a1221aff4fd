package audit

import (
	"fmt"

	"nmn/eval"
	"nmn/labels"
)

// Outcome is what was corrected.
type Outcome struct {
	Changed           int         `json:"changed"`
	Accepted          int         `json:"accepted"`
	Rejected          int         `json:"rejected"`
	Automatic         int         `json:"automatic"`
	ExpectedPrecision eval.Number `json:"expected_precision"` // of the automatic corrections
	Labels            string      `json:"labels"`
	Changes           string      `json:"changes"`
	Reason            string      `json:"reason,omitempty"` // why none was corrected automatically, if that was asked for
}

// Correct applies the decisions and the correction, writes the corrected labels and the record of changes,
// and notes the outcome. If there are too few labels (see EnoughToApply), it returns a *setting.Error and
// writes nothing.
func (r *Report) Correct(c labels.Correction) error {
	if err := r.checkApply(c.Apply); err != nil {
		return err
	}
	candidates := r.Candidates(c.Apply)
	automatic := candidates[:AtPrecision(candidates, c.Precision)]
	corrected, changes, err := Corrected(r.Input, r.Decisions, automatic, fmt.Sprintf("expected precision at least "+
		"%g", c.Precision))
	if err != nil {
		return err
	}
	r.Outcome = &Outcome{
		Changed: len(changes), Automatic: len(automatic), Accepted: len(changes) - len(automatic),
		ExpectedPrecision: ExpectedPrecision(automatic), Labels: c.Labels,
		Changes: c.Changes(),
	}
	if c.Apply != "" && len(automatic) == 0 {
		r.Outcome.Reason = r.whyNone(c, candidates)
	}
	r.Outcome.Rejected = len(r.Decisions) - r.Outcome.Accepted
	return c.Save(changeColumns, changeRecords(&r.Input, changes, c.Version), func() error {
		if c.Write != nil {
			return c.Write(corrected)
		}
		return WriteLabels(c.Labels, r.Input, corrected)
	})
}
