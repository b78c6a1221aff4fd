package audit

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/durable"
	"nmn/labels"
)

// Change is a label that was corrected, and why.
type Change struct {
	Suspect
	Rule string // "accepted", or the rule that stood in for a person
}

// Corrected returns the labels after applying the accepted decisions and the given suspects, and every change
// in the order of bags and classes. Decisions take precedence over the rule: a rejected suspect keeps its
// label.
func Corrected(in Input, d Decisions, automatic []Suspect, rule string) ([]uint8, []Change, error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	posteriors := in.posteriors()
	var changes []Change
	for cell, verdict := range d {
		if verdict != Accept {
			continue
		}
		at := int(cell.Bag)*in.Classes + int(cell.Class)
		changes = append(changes,
			Change{Suspect{Bag: cell.Bag, Class: cell.Class, Given: in.Labels[at],
				Margin: posteriors[cell.Class].margin(in.Labels[at], in.judged()[at])}, "accepted"})
	}
	for _, s := range d.Undecided(automatic) {
		changes = append(changes, Change{s, rule})
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Bag, b.Bag), cmp.Compare(a.Class, b.Class))
	})
	corrected := slices.Clone(in.Labels)
	for _, c := range changes {
		corrected[int(c.Bag)*in.Classes+int(c.Class)] ^= 1
	}
	return corrected, changes, nil
}

// WriteLabels writes a matrix of labels as the CSV that table.ReadKnownLabels reads.
func WriteLabels(path string, in Input, labels []uint8) error {
	words := make([]string, in.Classes)
	for c := range words {
		words[c] = in.Word(c)
	}
	return durable.Stream(path, 0o644, func(out io.Writer) error {
		w := table.NewWriter[uint8](out, words, true)
		w.Gaps = true
		for i := range in.Bags {
			if err := w.Write(in.ID(i), labels[i*in.Classes:(i+1)*in.Classes]); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// changeColumns are the columns of a record of changes.
var changeColumns = []string{"id", "class", "original", "corrected", "p_wrong", "rho", "rule", "version"}

// changeRecords say where every changed label came from: bag and class, the label before and after, the probability
// that it was wrong, rho = p(y=1|z,I), the rule, and the version of the program. The probabilities are empty if the
// noise rates of the class are unknown.
func changeRecords(in *Input, changes []Change, version string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for _, c := range changes {
			wrong, rho := "", ""
			if in.audited(int(c.Class)) {
				wrong, rho = labels.Digits(c.Error()), labels.Digits(c.Rho())
			}
			if !yield([]string{in.ID(int(c.Bag)), in.Word(int(c.Class)), strconv.Itoa(int(c.Given)),
				strconv.Itoa(int(c.Given ^ 1)), wrong, rho, c.Rule, version}) {
				return
			}
		}
	}
}

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
