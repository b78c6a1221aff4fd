package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"nmn/eval"
	"nmn/labels/misplaced/captions"
)

// CaptionAuditTables show what an audit of captions has found: how many are of other bags, those that are least
// probably of theirs with the words that speak against them, none of them for 0, and where the truth is known how well
// the foreign ones are found. outcome is what was applied, nil for nothing.
func CaptionAuditTables(r *captions.Report, top int, outcome *captions.Outcome) []*Table {
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

// captionSummaryTable says how many captions there are, are of other bags and are dropped.
func captionSummaryTable(s *captions.Summary) *Table {
	t := &Table{Title: "Captions of other bags", Columns: []Column{
		{Name: "captions"}, {Name: "bags"}, {Name: "words"}, {Name: "foreign (%)", Decimals: 1},
		{Name: "from", Decimals: 1}, {Name: "to", Decimals: 1}, {Name: "dropped"},
		{Name: "expected precision (%)", Decimals: 1},
	}}
	low, high := eval.Undefined(), eval.Undefined()
	if s.Interval != nil {
		low, high = s.Interval.Low, s.Interval.High
	}
	t.Rows = []Row{{Cells: []Cell{
		count(s.Captions), count(s.Bags), count(s.Words), number(100 * s.Foreign), number(100 * low), number(100 * high),
		count(s.Dropped), number(100 * s.ExpectedPrecision),
	}}}
	t.dropEmptyColumns()
	t.Notes = captionNotes(s)
	return t
}

// worstCaptions lists captions with what speaks against them.
func worstCaptions(worst []captions.Finding) *Table {
	t := &Table{Title: "Captions that are least probably of their bags", Columns: []Column{
		{Name: "caption", Text: true}, {Name: "bag", Text: true}, {Name: "p(own)", Decimals: 4},
		{Name: "text", Text: true}, {Name: "words against it", Text: true},
	}}
	for _, f := range worst {
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			words(shortened(f.Caption, 80)), words(shortened(f.Bag, 80)), number(eval.Number(f.Own)),
			words(shortened(f.Text, 60)), words(reasons(&f)),
		}})
	}
	t.Notes = []string{"Words after a minus are those that the others have and the caption lacks."}
	return t
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

// captionNotes say what is dropped and why not, and what is unusual.
func captionNotes(s *captions.Summary) []string {
	var notes []string
	switch {
	case s.Refused != "":
		notes = append(notes, "Nothing is dropped: "+s.Refused+".")
	case s.Dropped == 0:
		notes = append(notes, fmt.Sprintf("Nothing is dropped: no caption is more likely of another bag than of "+
			"its own, at an expected precision of %g %%.", 100*s.Precision))
	default:
		notes = append(notes, fmt.Sprintf("Dropped are captions of their bags with a probability below %.3g, which keeps "+
			"the expected precision at %g %% or above.", s.Threshold, 100*s.Precision))
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
