package report

import (
	"fmt"
	"math"

	"nmn/labels"
	"nmn/labels/audit"
	"nmn/text"
)

// AuditTables returns the tables of an audit: the first top suspects (0 for none), the classes with the most labels
// expected to be wrong (0 for all), and, if the true labels are known, how well the ranking finds wrong labels.
func AuditTables(r *audit.Report, top, classes int) []*Table {
	var tables []*Table
	if top > 0 {
		tables = append(tables, suspectTable(r, r.Suspects[:min(top, len(r.Suspects))]))
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
	tables = append(tables, rowTables(r.Table(), top, counts.Audited, r.Samples)...)
	if r.Outcome != nil {
		last := tables[len(tables)-1]
		last.Notes = append(last.Notes, correctionNote(r.Outcome))
	}
	return tables
}

// countNotes returns the numbers of labels and suspects in sentences. The page and the command line both show them.
func countNotes(r *audit.Report, c audit.Counts) []string {
	s := fmt.Sprintf("%d %v have %d labels. %s.", c.Bags, r.Samples, c.Labels,
		suspectCount(c.Suspects, c.Audited, "audited labels, present or absent,", r.MinError))
	which := "suspects"
	if c.Pooled > 0 {
		which += " of classes with their own rates"
	}
	if c.Open < c.Suspects {
		which += " without a decision"
		s += fmt.Sprintf(" Suspects without a decision: %d.", c.Open)
	}
	if k := audit.AtPrecision(r.Candidates(labels.ApplyCareful), .9); k > 0 {
		s += fmt.Sprintf(" The first %d %s have an expected precision of 90 %%.", k, which)
	}
	wrong := fmt.Sprintf("About %.0f labels are expected to be incorrect, and %.0f to be missing.",
		math.Round(c.Incorrect), math.Round(c.Missing))
	if c.Pooled > 0 {
		wrong += " Classes with pooled rates (marked *) are not counted."
	}
	return []string{s, wrong}
}

// suspectCount returns a sentence with the number of suspects and the probability from which a label is one.
func suspectCount(suspects, all int, labels string, least float64) string {
	if least == 0 {
		return fmt.Sprintf("%d of %d %s are ranked, including those that are probably right", suspects, all, labels)
	}
	return fmt.Sprintf("%d of %d %s are wrong with a probability of at least %g", suspects, all, labels, least)
}

// corrected returns how many labels are corrected.
func corrected(n int) string {
	if n == 1 {
		return "1 label is corrected"
	}
	return fmt.Sprintf("%d labels are corrected", n)
}

// correctionNote returns a sentence about the corrected labels and the files they are written to.
func correctionNote(o *audit.Outcome) string {
	s := fmt.Sprintf("%s in %s: %d by your decisions and %d automatically", corrected(o.Changed), o.Labels, o.Accepted,
		o.Automatic)
	if o.ExpectedPrecision.Defined() {
		s += fmt.Sprintf(" with an expected precision of %.1f %%", 100*o.ExpectedPrecision)
	}
	s += fmt.Sprintf(". You kept %s unchanged. %s lists every change with its reason.",
		text.Count(o.Rejected, "suspects"), o.Changes)
	if o.Reason != "" {
		s += " No label is corrected automatically: " + o.Reason + "."
	}
	return s
}
