package report

import (
	"fmt"
	"html/template"
	"slices"

	"nmn/eval"
	"nmn/internal/visible"
)

// FoundCaptions is the result of auditing captions before training: how many belong to other bags, and which.
type FoundCaptions struct {
	Captions int         `json:"captions"`
	Doubted  int         `json:"doubted"` // that belong to their bags with less than .5
	Foreign  eval.Number `json:"foreign"` // estimated share that belongs to other bags
	Low      eval.Number `json:"foreign_low"`
	High     eval.Number `json:"foreign_high"`
	// Refused is the reason why captions are used as they are; empty if they were audited.
	Refused string   `json:"refused,omitempty"`
	Remarks []string `json:"remarks,omitempty"`
	// Truth compares the result with the captions that are known to be replaced; nil if unknown.
	Truth *FoundTruth `json:"truth,omitempty"`
	// Worst are the captions that least probably belong to their bags. Rates are mention rates of words.
	Worst []WorstCaption `json:"worst,omitempty"`
	Rates []MentionRate  `json:"mention_rates,omitempty"`
}

// FoundTruth measures how well foreign captions were found.
type FoundTruth struct {
	Foreign     int         `json:"foreign"`
	AUC         eval.Number `json:"auc"`
	Precision   eval.Number `json:"precision"` // of the doubted captions
	Recall      eval.Number `json:"recall"`
	ForeignKept eval.Number `json:"foreign_kept"` // share of the other captions
}

// WorstCaption is a caption that probably belongs to another bag.
type WorstCaption struct {
	Bag     string   `json:"sample"`
	Number  int      `json:"caption"` // in its bag, from 1
	Own     float64  `json:"own"`
	Words   []string `json:"words"`   // that it mentions
	Against []string `json:"against"` // words that make it suspect
	Lacks   []string `json:"lacks"`   // words of the other captions that it lacks
	JPEG    []byte   `json:"-"`       // small picture of the bag; nil for none
}

// MentionRate is how often captions mention a word.
type MentionRate struct {
	Word      string      `json:"word"`
	Frequency eval.Number `json:"frequency"` // in all captions
	Holds     eval.Number `json:"holds"`     // in captions of bags that show it
	Else      eval.Number `json:"else"`      // in captions of other bags
}

// Lines returns the result as sentences without full stops.
func (f *FoundCaptions) Lines() []string {
	if f.Refused != "" {
		return []string{"Captions are used as they are: " + f.Refused}
	}
	line := fmt.Sprintf("%.1f %% of %d captions probably belong to other pictures", 100*float64(f.Foreign), f.Captions)
	if f.Low.Defined() {
		line += fmt.Sprintf(" (%.1f to %.1f %%)", 100*float64(f.Low), 100*float64(f.High))
	}
	lines := append([]string{line, fmt.Sprintf("Each caption counts by the probability that it is right, which is below "+
		"0.5 for %d", f.Doubted)}, f.Remarks...)
	if t := f.Truth; t != nil {
		known := fmt.Sprintf("%d captions are known to be replaced: AUC %.3f", t.Foreign, float64(t.AUC))
		if f.Doubted > 0 {
			known += fmt.Sprintf(", %.1f %% of those %d and %.1f %% of the others", 100*float64(t.Precision), f.Doubted,
				100*float64(t.ForeignKept))
		}
		lines = append(lines, known)
	}
	return lines
}

// mentionRateTables returns a table of mention rates, or none if they are unknown.
func mentionRateTables(rates []MentionRate) []*Table {
	if len(rates) == 0 {
		return nil
	}
	t := &Table{Title: "How often captions mention a word", Columns: []Column{{Name: "word", Text: true},
		{Name: "all captions", Decimals: 4}, {Name: "if shown", Decimals: 3}, {Name: "if not shown", Decimals: 4}}}
	for _, r := range rates {
		t.AddRow(words(r.Word), number(r.Frequency), number(r.Holds), number(r.Else))
	}
	t.dropEmptyColumns()
	return []*Table{t}
}

// Marked returns the words of a caption, with marks on words that make it suspect, and the words that it lacks.
func (w *WorstCaption) Marked() []ShownLabel {
	var out []ShownLabel
	for _, word := range w.Words {
		l := ShownLabel{Word: visible.Line(word)}
		if slices.Contains(w.Against, word) {
			l.Kind = IncorrectLabel
		}
		out = append(out, l)
	}
	for _, word := range w.Lacks {
		out = append(out, ShownLabel{Word: visible.Line(word), Kind: MissingLabel})
	}
	return out
}

// Name is the printable name of the bag.
func (w *WorstCaption) Name() string { return visible.Line(w.Bag) }

// Picture returns the picture as a data: URL, or "" without a picture.
func (w *WorstCaption) Picture() template.URL { return jpegURL(w.JPEG) }
