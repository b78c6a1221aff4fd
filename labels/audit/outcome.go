package audit

import (
	"fmt"
	"path/filepath"
	"strings"

	"nmn/eval"
	"nmn/labels"
)

// Correction says which labels to correct, and where to write them.
type Correction struct {
	// Apply corrects the first suspects that nobody has decided on, as many as an expected precision of at least
	// Precision allows; empty for none. Only ApplyPooled corrects labels of classes that are audited with pooled rates: no
	// precision is to be expected of them.
	Apply     Apply
	Precision float64
	// Labels is the file of the corrected labels, .csv unless Write writes it. The record of changes lies beside it.
	Labels string
	// Write writes the corrected labels, N×K, in another form; nil writes them as WriteLabels does.
	Write func(corrected []uint8) error
	// Version is that of the program, for the record.
	Version string
}

// Outcome is what was corrected.
type Outcome struct {
	Changed           int         `json:"changed"`
	Accepted          int         `json:"accepted"`
	Rejected          int         `json:"rejected"`
	Automatic         int         `json:"automatic"`
	ExpectedPrecision eval.Number `json:"expected_precision"` // of the automatic ones
	Labels            string      `json:"labels"`
	Changes           string      `json:"changes"`
	Reason            string      `json:"reason,omitempty"` // why none was corrected automatically, if that was asked for
}

// Correct carries out the decisions and the correction, writes the corrected labels and the record of changes, and
// notes the outcome. A *setting.Error says that there are too few labels, see EnoughToApply; nothing is written then.
func (r *Report) Correct(c Correction) error {
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
		Changes: strings.TrimSuffix(c.Labels, filepath.Ext(c.Labels)) + ".changes.csv",
	}
	if c.Apply != "" && len(automatic) == 0 {
		r.Outcome.Reason = r.whyNone(c, candidates)
	}
	r.Outcome.Rejected = len(r.Decisions) - r.Outcome.Accepted
	if err := labels.RefuseForeign(r.Outcome.Changes, changesHeader); err != nil {
		return err
	}
	// The record first: labels without one would hide where they came from.
	if err := WriteChanges(r.Outcome.Changes, r.Input, changes, c.Version); err != nil {
		return err
	}
	if c.Write != nil {
		return c.Write(corrected)
	}
	return WriteLabels(c.Labels, r.Input, corrected)
}
