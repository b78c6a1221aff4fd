package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"nmn/eval"
	"nmn/labels/misplaced"
)

// CaptionAuditTables returns the tables of an audit of captions: how many belong to other bags, the first top suspects
// with the words that make them suspect (0 for none), and, if the truth is known, how well foreign captions are found.
// outcome is nil if nothing was applied.
func CaptionAuditTables(r *misplaced.Report, top int, outcome *misplaced.Outcome) []*Table {
	s := r.Summary(top, outcome)
	tables := []*Table{captionSummaryTable(&s)}
	if len(s.Worst) > 0 {
		tables = append(tables, worstCaptions(s.Worst))
	}
	if s.Truth != nil {
		tables = append(tables, captionJudgementTable(s.Truth))
	}
	return tables
}

// captionSummaryTable counts the captions, the captions that belong to other bags, and the dropped ones.
func captionSummaryTable(s *misplaced.Summary) *Table {
	t := &Table{Title: "Captions that belong to other pictures",
		Columns: slices.Concat(NumberColumns(0, "captions", "pictures", "words"),
			NumberColumns(1, "foreign (%)", "from", "to"), NumberColumns(0, "dropped"),
			NumberColumns(1, "expected precision (%)"))}
	low, high := eval.Undefined(), eval.Undefined()
	if s.Interval != nil {
		low, high = s.Interval.Low, s.Interval.High
	}
	t.AddRow(count(s.Captions), count(s.Bags), count(s.Words), number(100*s.Foreign), number(100*low), number(100*high),
		count(s.Dropped), number(100*s.ExpectedPrecision))
	t.dropEmptyColumns()
	t.Notes = captionNotes(s)
	return t
}

func worstCaptions(worst []misplaced.Finding) *Table {
	t := &Table{Title: "Captions that fit their pictures least", Columns: slices.Concat(TextColumns("caption", "picture"),
		NumberColumns(4, "p(own)"), TextColumns("text", "words against it"))}
	for _, f := range worst {
		t.AddRow(words(shortened(f.Caption, 80)), words(shortened(f.Bag, 80)), figure(f.Own), words(shortened(f.Text, 60)),
			words(reasons(&f)))
	}
	t.Notes = []string{"p(own) is the probability that a caption belongs to its picture. Words after a minus are in the " +
		"other captions of the picture, but not in this one."}
	return t
}

// reasons lists the words that make a caption suspect. Words that it lacks follow a minus.
func reasons(f *misplaced.Finding) string {
	var all []string
	for _, word := range f.Against {
		all = append(all, shortened(word, 30))
	}
	for _, word := range f.Lacks {
		all = append(all, "−"+shortened(word, 30))
	}
	return strings.Join(all, ", ")
}

func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// captionNotes returns sentences about the dropped captions, and remarks.
func captionNotes(s *misplaced.Summary) []string {
	var notes []string
	switch {
	case s.Refused != "":
		notes = append(notes, "Nothing is dropped: "+s.Refused+".")
	case s.Dropped == 0:
		notes = append(notes, fmt.Sprintf("Nothing is dropped: no caption belongs to another picture with an expected "+
			"precision of %g %%.", 100*s.Precision))
	default:
		notes = append(notes, fmt.Sprintf("Captions with p(own) below %.3g are dropped. Their expected precision is at "+
			"least %g %%.", s.Threshold, 100*s.Precision))
	}
	for _, remark := range s.Remarks {
		notes = append(notes, capital(remark)+".")
	}
	if s.Applied != nil {
		notes = append(notes, captionOutcome(s.Applied))
	}
	return notes
}

// captionOutcome returns a sentence about the dropped captions and the file with the others.
func captionOutcome(o *misplaced.Outcome) string {
	out := fmt.Sprintf("%s has %d captions. %d are dropped (%d by probability, %d by your decisions", o.File, o.Kept,
		o.Dropped, o.Automatic, o.Decided)
	if o.Rescued > 0 {
		out += fmt.Sprintf("; your decisions keep %d more", o.Rescued)
	}
	out += ")"
	if o.EmptyBags > 0 {
		out += fmt.Sprintf(". Pictures without a caption left: %d", o.EmptyBags)
	}
	return out + "."
}

// captionJudgementTable compares an audit with the captions that are known to be foreign.
func captionJudgementTable(j *misplaced.Judgement) *Table {
	return &Table{Title: fmt.Sprintf("Finding the %d foreign captions", j.Foreign),
		Columns: NumberColumns(3, "AUC", "precision of the dropped", "recall", "foreign among the kept"),
		Rows:    []Row{{Cells: []Cell{number(j.AUC), number(j.Precision), number(j.Recall), number(j.ForeignKept)}}}}
}
