package audit

import (
	"fmt"
	"slices"

	"nmn/internal/setting"
	"nmn/labels"
)

// Apply says which suspects are corrected although nobody has decided on them.
type Apply string

// The ways to correct. Without one only decisions are carried out.
const (
	// ApplyCareful corrects suspects of classes with rates of their own, and nothing before EnoughToApply allows it.
	ApplyCareful Apply = "careful"
	// ApplyForce corrects the same suspects whatever EnoughToApply says.
	ApplyForce Apply = "force"
	// ApplyPooled corrects as ApplyForce does, and suspects of classes with pooled rates too.
	ApplyPooled Apply = "pooled"
)

// EnoughDecisions is how many suspects a person has to decide on before few labels are corrected.
const EnoughDecisions = 30

// EnoughToApply refuses to correct labels without a person where there are fewer than labels.EnoughToApply, and fewer than
// EnoughDecisions suspects have a decision: nothing would show that the probabilities are too sure.
func EnoughToApply(given, decided int) error {
	if given >= labels.EnoughToApply || decided >= EnoughDecisions {
		return nil
	}
	return setting.Errorf("audit.apply", "%d labels are too few for `audit.apply` alone, which needs %d of them, or decisions of "+
		"a person on %d suspects (missing: %d); decide on the page (`audit.page`), and pass the file that it saves to "+
		"`audit.decisions`, or correct the labels at your own risk with `audit.apply`=%s", given, labels.EnoughToApply,
		EnoughDecisions, EnoughDecisions-decided, ApplyForce)
}

// checkApply is EnoughToApply for the labels that are there, of audited classes, and the suspects with decisions.
func (r *Report) checkApply(how Apply) error {
	if how != ApplyCareful {
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
	return EnoughToApply(given, decided)
}

// Candidates are the suspects that may be corrected although nobody has decided on them, the surest first.
func (r *Report) Candidates(how Apply) []Suspect {
	if how == "" {
		return nil
	}
	open := r.Open()
	if how == ApplyPooled {
		return open
	}
	return slices.DeleteFunc(slices.Clone(open), func(s Suspect) bool { return r.IsPooled(int(s.Class)) })
}

// whyNone says why none of the candidates is corrected.
func (r *Report) whyNone(c Correction, candidates []Suspect) (why string) {
	switch open := len(r.Open()); {
	case len(candidates) > 0:
		why = fmt.Sprintf("the surest suspect without a decision is wrong with a probability of %.1f %%, and the expected "+
			"precision must be at least %g %%", 100*candidates[0].Error(), 100*max(c.Precision, .5))
	case open > 0:
		why = fmt.Sprintf("all %d suspects without a decision are of classes with pooled rates", open)
	default:
		why = fmt.Sprintf("no label without a decision is wrong with a probability of at least %g", r.MinError)
	}
	if r.Decided != nil {
		why += "; probabilities are corrected by the decisions"
	}
	return why
}
