package audit

import (
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/labels"
)

// EnoughDecisions is how many suspects a person has to decide on before few labels are corrected.
const EnoughDecisions = 30

// EnoughToApply refuses to correct labels without a person if fewer than EnoughDecisions suspects have a decision, and
// there are fewer than labels.EnoughToApply labels or the probabilities are known to be too sure: nothing would show by
// how much.
func EnoughToApply(given, decided int, tooSure bool) error {
	few := given < labels.EnoughToApply
	if decided >= EnoughDecisions || !few && !tooSure {
		return nil
	}
	why := "nets learn noise, and p(wrong) is not calibrated: `audit.apply` needs"
	if few {
		why = fmt.Sprintf("%d labels are too few for `audit.apply` alone, which needs %d of them, or", given,
			labels.EnoughToApply)
	}
	return setting.Errorf("audit.apply", "%s decisions on %d suspects (missing: %d); decide on the page (`audit.page`), "+
		"and pass the file that it saves to `audit.decisions`, or correct the labels at your own risk with "+
		"`audit.apply`=%s", why, EnoughDecisions, EnoughDecisions-decided, labels.ApplyForce)
}

// checkApply is EnoughToApply for the labels that are there, of audited classes, and the suspects with decisions.
func (r *Report) checkApply(how labels.Apply) error {
	if how != labels.ApplyCareful {
		return nil
	}
	given, decided := 0, 0
	for _, c := range r.Result.Classes {
		if c.Audited {
			given += c.Positives
		}
	}
	if r.Decided != nil {
		decided = r.Decided.Suspects
	}
	return EnoughToApply(given, decided, false)
}

// Candidates are the suspects without a decision that may be corrected, the surest first.
func (r *Report) Candidates(how labels.Apply) []Suspect {
	if how == "" {
		return nil
	}
	open := r.Open()
	if how == labels.ApplyPooled {
		return open
	}
	return slices.DeleteFunc(slices.Clone(open), func(s Suspect) bool { return r.IsPooled(int(s.Class)) })
}

func (r *Report) whyNone(c labels.Correction, candidates []Suspect) (why string) {
	switch open := len(r.Open()); {
	case len(candidates) > 0:
		why = fmt.Sprintf("the surest suspect without a decision is wrong with a probability of %.1f %%, and the expected "+
			"precision must be at least %g %%", 100*candidates[0].Error(), 100*max(c.Precision, .5))
	case open > 0:
		why = fmt.Sprintf("all %d suspects without a decision belong to classes with pooled rates", open)
	default:
		why = fmt.Sprintf("no label without a decision is wrong with a probability of at least %g", r.MinError)
	}
	if r.Decided != nil {
		why += "; probabilities are corrected by the decisions"
	}
	return why
}
