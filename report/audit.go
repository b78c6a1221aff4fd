package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels"
	"nmn/labels/audit"
	"nmn/labels/rates"
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
		if r.Decided == nil {
			s += " " + roughText + "."
		}
	}
	wrong := fmt.Sprintf("About %.0f labels are expected to be incorrect, and %.0f to be missing.",
		math.Round(c.Incorrect), math.Round(c.Missing))
	if c.Pooled > 0 {
		wrong += " Classes with pooled rates (marked *) are not counted."
	}
	if r.Estimate != nil && r.Estimate.Unidentified() {
		wrong += " " + CheckText + "."
	}
	return []string{s, wrong}
}

// roughText says how far expected precisions were from true ones (docs/background/audit-measured.md, the median over 27
// rows).
const roughText = "Such an estimate was off by about 10 points or more in half of the trials on public data: " +
	"decisions on 30 suspects show whether it holds, and correct it"

// suspectCount returns a sentence with the number of suspects and the probability from which a label is one.
func suspectCount(suspects, all int, labels string, least float64) string {
	if least == 0 {
		return fmt.Sprintf("%d of %d %s are ranked, including those that are probably right", suspects, all, labels)
	}
	return fmt.Sprintf("%d of %d %s are wrong with a probability of at least %g", suspects, all, labels, least)
}

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

// suspectTable lists suspects. The surest comes first.
func suspectTable(r *audit.Report, suspects []audit.Suspect) *Table {
	in := &r.Input
	t := &Table{Title: "Labels that are probably wrong", Columns: slices.Concat(
		TextColumns(r.Samples.One(), "label", "is"), NumberColumns(4, "p(wrong)", "p(y=1)"),
		NumberColumns(3, "q01"), NumberColumns(4, "q10"))}
	for _, s := range suspects {
		c := int(s.Class)
		t.AddRow(words(in.ID(int(s.Bag))), words(in.Word(c)), words(string(s.Kind())), figure(s.Error()), figure(s.P),
			figure(in.Rates.Q01[c]), figure(in.Rates.Q10[c]))
		if in.IsPooled(c) {
			cells := t.Rows[len(t.Rows)-1].Cells
			cells[1] = words(in.Word(c) + pooledMark)
			t.Notes = []string{pooledNote}
		}
	}
	return t
}

// pooledMark follows the names of classes that are audited with pooled rates. pooledNote explains it.
const (
	pooledMark = " *"
	pooledNote = "* has too few labels for its own noise rates. It is audited with the pooled rates of the other " +
		"classes, and no precision is claimed."
)

// auditClassTable has a row for each class: labels, labels expected to be wrong, and suspects. If most is not 0, it
// lists only the most classes with the most labels expected to be wrong, in class order. Estimated rates give the
// reason why a class is not audited.
func auditClassTable(r *audit.Report, most int) *Table {
	counts, all := r.Counts(), r.Result.Classes
	t := &Table{Title: "By class", Columns: slices.Concat(TextColumns("label"), NumberColumns(0, "labels"),
		NumberColumns(1, "incorrect, expected"), NumberColumns(0, "suspected incorrect"),
		NumberColumns(1, "missing, expected"), NumberColumns(0, "suspected missing"), NumberColumns(3, "q01"),
		NumberColumns(4, "q10"), TextColumns("not audited"))}
	for _, c := range noisiest(all, most) {
		class := all[c]
		cells := []Cell{words(r.Word(c)), count(class.Positives)}
		if class.Pooled {
			cells[0] = words(r.Word(c) + pooledMark)
		}
		if class.Audited {
			incorrect, missing := class.Expected()
			cells = append(cells, number(incorrect), count(class.Incorrect), number(missing), count(class.Missing),
				figure(r.Rates.Q01[c]), figure(r.Rates.Q10[c]))
		} else {
			cells = append(cells, slices.Repeat([]Cell{unknown()}, 6)...)
		}
		t.AddRow(append(cells, words(whyNotAudited(r, c)))...)
	}
	if counts.NotAudited == 0 {
		t.drop(t.column("not audited"))
	}
	if len(t.Rows) < counts.Classes {
		t.Notes = append(t.Notes, fmt.Sprintf("The table shows the %d of %d classes with the most labels expected to be "+
			"wrong.", len(t.Rows), counts.Classes))
	}
	if counts.Pooled > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d classes: %s", counts.Pooled, counts.Classes, pooledNote))
	}
	if counts.NotAudited > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d classes are not audited, because their noise rates are unknown.",
			counts.NotAudited, counts.Classes))
	}
	return t
}

// whyNotAudited returns the reason why a class is not audited, or "" if it is.
func whyNotAudited(r *audit.Report, class int) string {
	switch n := r.Result.Classes[class].Positives; {
	case r.Result.Classes[class].Audited:
		return ""
	case r.Estimate == nil:
		return "no rates given"
	case n == 0:
		return "on no " + r.Samples.One()
	case n == knownLabels(r, class):
		return "on every " + r.Samples.One()
	}
	var why []string
	for _, d := range r.Estimate.Classes[class].Diagnoses {
		if alone := (rates.Class{Diagnoses: []rates.Diagnosis{d}}); !alone.Usable() {
			why = append(why, string(d))
		}
	}
	return strings.Join(why, "; ")
}

func knownLabels(r *audit.Report, class int) (n int) {
	for i := class; i < len(r.Labels); i += r.Input.Classes {
		if r.Labels[i] != table.Unknown {
			n++
		}
	}
	return n
}

// noisiest returns the most classes with the most labels expected to be wrong, in class order. Classes with pooled
// rates are taken last, because no precision is claimed for them.
func noisiest(classes []audit.Class, most int) []int {
	return largest(len(classes), most, func(c int) float64 {
		if classes[c].Pooled {
			return -1
		}
		return classes[c].ExpectedIncorrect + classes[c].ExpectedMissing
	})
}

// largest returns the most of n numbers from 0 that have the largest values, in ascending order; all if most is 0.
func largest(n, most int, value func(int) float64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if most == 0 || most >= n {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	order = order[:most]
	slices.Sort(order)
	return order
}

// JudgementTable compares the audit and its rivals with the true labels.
func JudgementTable(j *audit.Judgement) *Table {
	t := judgementTable(j.Wrong, []string{"AP", "AP, incorrect", "AP, missing"}, []ranking{
		{"posterior", []eval.Number{j.Posterior.AP, j.Posterior.IncorrectAP, j.Posterior.MissingAP}, j.Posterior.PrecisionAt},
		{"|z - p|", []eval.Number{j.Difference.AP, j.Difference.IncorrectAP, j.Difference.MissingAP},
			j.Difference.PrecisionAt}})
	c := j.Confident
	t.Notes = append(t.Notes, "Confident learning, applied to each class, "+flagged(c.Labels, c.Precision, c.Recall,
		c.PosteriorPrecision)+" Self-confidence and normalised margin rank the labels of a class as |z - p| does.")
	return t
}

// ranking measures how well an order of labels finds the wrong ones.
type ranking struct {
	name        string
	ap          []eval.Number
	precisionAt map[int]eval.Number
}

// judgementTable compares rankings with the true labels. The columns ap hold their average precisions, followed by the
// precision at the ranks that the first ranking has.
func judgementTable(wrong int, ap []string, rankings []ranking) *Table {
	t := &Table{Title: fmt.Sprintf("Finding the %d wrong labels (%%)", wrong),
		Columns: []Column{{Name: "ranked by", Text: true}}}
	at := slices.Sorted(maps.Keys(rankings[0].precisionAt))
	t.Columns = append(t.Columns, NumberColumns(2, ap...)...)
	for _, k := range at {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("P@%d", k), Decimals: 2})
	}
	for _, r := range rankings {
		cells := []Cell{words(r.name)}
		for _, v := range r.ap {
			cells = append(cells, number(100*v))
		}
		for _, k := range at {
			cells = append(cells, number(100*r.precisionAt[k]))
		}
		t.AddRow(cells...)
	}
	t.dropEmptyColumns()
	return t
}

// flagged compares the labels that confident learning flags with an equal number of labels ranked by posterior.
func flagged(labels int, precision, recall, posterior eval.Number) string {
	s := fmt.Sprintf("flags %d labels", labels)
	if precision.Defined() {
		s += fmt.Sprintf(": precision %.2f %%, recall %.2f %%. The first %d labels by posterior have precision %.2f %%",
			100*precision, 100*recall, labels, 100*posterior)
	}
	return s + "."
}
