package report

import (
	"fmt"
	"math"

	"nmn/labels"
	"nmn/labels/audit"
)

// AuditTables show what an audit has found: the first suspects, none of them for 0, the classes with the most labels
// expected to be wrong, all of them for 0, and where the truth is known what became of the ranking.
func AuditTables(r *audit.Report, top, classes int) []*Table {
	var tables []*Table
	if top > 0 {
		tables = append(tables, suspectTable(r.Input, r.Suspects[:min(top, len(r.Suspects))]))
	}
	counts := r.Counts()
	byClass := auditClassTable(r, classes)
	byClass.Notes = append(countNotes(r, counts), byClass.Notes...)
	if r.Decided != nil {
		byClass.Notes = append(byClass.Notes, r.Decided.Note)
	}
	tables = append(tables, byClass)
	if r.Judgement != nil {
		tables = append(tables, JudgementTable(r.Judgement))
	}
	tables = append(tables, rowTables(r.Table(), top, counts.Audited)...)
	if r.Outcome != nil {
		last := tables[len(tables)-1]
		last.Notes = append(last.Notes, correctionNote(r.Outcome))
	}
	return tables
}

// countNotes say how many labels and suspects there are, and what to expect of them.
func countNotes(r *audit.Report, c audit.Counts) []string {
	s := fmt.Sprintf("%d bags have %d labels. %s", c.Bags, c.Labels,
		suspectCount(c.Suspects, c.Audited, "audited labels, there or not,", r.MinError))
	which := ""
	if c.Pooled > 0 {
		which = " of classes with rates of their own"
	}
	if c.Open < c.Suspects {
		which += " without a decision"
		s += fmt.Sprintf(", %d of them without a decision", c.Open)
	}
	if k := audit.AtPrecision(r.Candidates(labels.ApplyCareful), .9); k > 0 {
		s += fmt.Sprintf("; the first %d%s have an expected precision of 90 %%", k, which)
	}
	wrong := fmt.Sprintf("%.0f labels are expected to be incorrect, and %.0f to be missing", math.Round(c.Incorrect),
		math.Round(c.Missing))
	if c.Pooled > 0 {
		wrong += ", without those of classes marked *"
	}
	return []string{s + ".", wrong + "."}
}

// suspectCount says how many labels of all are listed, and by which least probability of being wrong.
func suspectCount(suspects, all int, labels string, least float64) string {
	if least == 0 {
		return fmt.Sprintf("Of %d %s %d are ranked, the right ones too", all, labels, suspects)
	}
	return fmt.Sprintf("Of %d %s %d are wrong with a probability of at least %g", all, labels, suspects, least)
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
