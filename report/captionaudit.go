package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nmn/eval"
	"nmn/labels/captions"
)

// CaptionAuditTables show what an audit of captions has found: the captions that are least probably of their bags, with
// the words that speak against them, and where the truth is known how well the foreign ones are found. outcome is what
// was applied, nil for nothing.
func CaptionAuditTables(r *captions.Report, top int, outcome *captions.Outcome) []*Table {
	s := r.Summary(top, outcome)
	t := &Table{Title: "Captions that are least probably of their bags", Columns: []Column{
		{Name: "caption", Text: true}, {Name: "bag", Text: true}, {Name: "p(own)", Decimals: 4},
		{Name: "text", Text: true}, {Name: "words against it", Text: true},
	}}
	for _, f := range s.Worst {
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			words(shortened(f.Caption, 80)), words(shortened(f.Bag, 80)), number(eval.Number(f.Own)),
			words(shortened(f.Text, 60)), words(reasons(&f)),
		}})
	}
	t.Notes = captionNotes(&s)
	tables := []*Table{t}
	if s.Truth != nil {
		tables = append(tables, captionJudgementTable(s.Truth))
	}
	return tables
}

// reasons are the words that speak against a caption, those that it lacks after a minus.
func reasons(f *captions.Finding) string {
	var all []string
	for _, word := range f.Against {
		all = append(all, shortened(word, 30))
	}
	for _, word := range f.Lacks {
		all = append(all, "−"+shortened(word, 30))
	}
	return strings.Join(all, ", ")
}

// shortened is the beginning of a text of at most so many characters.
func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// captionNotes say how many captions are foreign, what is dropped and why not.
func captionNotes(s *captions.Summary) []string {
	share := fmt.Sprintf("%d captions of %d bags, judged by %d words", s.Captions, s.Bags, s.Words)
	if s.Foreign.Defined() {
		share += fmt.Sprintf(": %.1f %%", 100*s.Foreign)
		if s.Interval != nil {
			share += fmt.Sprintf(" (%.1f to %.1f %%)", 100*s.Interval.Low, 100*s.Interval.High)
		}
		share += " of them are estimated to be of other bags"
	}
	notes := []string{share + ". Words after a minus are those that the caption lacks."}
	switch {
	case s.Refused != "":
		notes = append(notes, "Nothing is dropped: "+s.Refused+".")
	case s.Dropped == 0:
		notes = append(notes, fmt.Sprintf("No caption is below a threshold that keeps an expected precision of %g %%.",
			100*s.Precision))
	default:
		notes = append(notes, fmt.Sprintf("%d are below %.3g, which keeps the expected precision at %g %% or "+
			"above: %.1f %%.", s.Dropped, s.Threshold, 100*s.Precision, 100*s.ExpectedPrecision))
	}
	for _, remark := range s.Remarks {
		notes = append(notes, strings.ToUpper(remark[:1])+remark[1:]+".")
	}
	if s.Applied != nil {
		notes = append(notes, captionOutcome(s.Applied))
	}
	return notes
}

// captionOutcome says what was dropped and where the others are.
func captionOutcome(o *captions.Outcome) string {
	out := fmt.Sprintf("%s has %d captions; %d are dropped (%d by the threshold, %d by people", o.File, o.Kept, o.Dropped,
		o.Automatic, o.Decided)
	if o.Rescued > 0 {
		out += fmt.Sprintf("; %d are kept by people alone", o.Rescued)
	}
	out += ")"
	if o.EmptyBags > 0 {
		out += fmt.Sprintf("; bags without any caption left: %d", o.EmptyBags)
	}
	return out + "."
}

// captionJudgementTable holds an audit against the captions that are known to be foreign.
func captionJudgementTable(j *captions.Judgement) *Table {
	return &Table{
		Title: fmt.Sprintf("Finding the %d foreign captions", j.Foreign),
		Columns: []Column{{Name: "AUC", Decimals: 3}, {Name: "precision of the dropped", Decimals: 3},
			{Name: "recall", Decimals: 3}, {Name: "foreign among the kept", Decimals: 3}},
		Rows: []Row{{Cells: []Cell{number(j.AUC), number(j.Precision), number(j.Recall), number(j.ForeignKept)}}},
	}
}
