package report

import (
	"fmt"
	"math"

	"nmn/labels/audit"
)

// AuditTables show what an audit has found: the first suspects, none of them for 0, the classes with the most labels
// expected to be wrong, all of them for 0, and where the truth is known what became of the ranking.
func AuditTables(r *audit.Report, top, classes int) []*Table {
	var tables []*Table
	if top > 0 {
		t := SuspectTable(r.Input, r.Suspects[:min(top, len(r.Suspects))])
		t.Notes = append(t.Notes, suspectNote(r))
		tables = append(tables, t)
	}
	byClass := AuditClassTable(r.Input, r.Result, r.Estimate, classes)
	if r.Decided != nil {
		byClass.Notes = append(byClass.Notes, r.Decided.Note)
	}
	tables = append(tables, byClass)
	if r.Judgement != nil {
		tables = append(tables, JudgementTable(r.Judgement))
	}
	tables = append(tables, rowTables(r.Table(), top, r.Audited())...)
	if r.Outcome != nil {
		last := tables[len(tables)-1]
		last.Notes = append(last.Notes, correctionNote(r.Outcome))
	}
	return tables
}

// suspectNote says how many suspects there are and what to expect of them.
func suspectNote(r *audit.Report) string {
	incorrect, missing := 0.0, 0.0
	for _, c := range r.Result.Classes {
		incorrect += c.ExpectedIncorrect
		missing += c.ExpectedMissing
	}
	s := suspectCount(len(r.Suspects), len(r.Labels), r.MinError)
	if k := audit.AtPrecision(r.Suspects, .9); k > 0 {
		s += fmt.Sprintf("; the first %d have an expected precision of 90 %%", k)
	}
	return s + fmt.Sprintf(". Expected in all: %.0f incorrect and %.0f missing "+
		"labels.", math.Round(incorrect), math.Round(missing))
}

// suspectCount says how many labels are listed, and by which least probability of being wrong.
func suspectCount(suspects, labels int, least float64) string {
	if least == 0 {
		return fmt.Sprintf("%d of %d labels are ranked, the right ones too", suspects, labels)
	}
	return fmt.Sprintf("%d of %d labels are wrong with a probability of at least %g", suspects, labels, least)
}

// correctionNote says what was corrected and where it is written.
func correctionNote(o *audit.Outcome) string {
	s := fmt.Sprintf("%d labels are corrected in %s (%d accepted, %d by the "+
		"rule", o.Changed, o.Labels, o.Accepted, o.Automatic)
	if o.ExpectedPrecision.Defined() {
		s += fmt.Sprintf(" with an expected precision of %.1f %%", 100*o.ExpectedPrecision)
	}
	s += fmt.Sprintf("; %d rejected); %s tells why.", o.Rejected, o.Changes)
	if o.Reason != "" {
		s += " None is corrected by the rule: " + o.Reason + "."
	}
	return s
}
