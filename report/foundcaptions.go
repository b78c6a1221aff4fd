package report

import (
	"fmt"
	"html/template"
	"slices"

	"nmn/eval"
	"nmn/internal/visible"
)

// FoundCaptions are the captions that were judged before training: how many belong to other bags, and which.
type FoundCaptions struct {
	Captions int         `json:"captions"`
	Dropped  int         `json:"dropped"`
	Foreign  eval.Number `json:"foreign"` // share that belongs to other bags, estimated
	Low      eval.Number `json:"foreign_low"`
	High     eval.Number `json:"foreign_high"`
	// Refused says why captions were taken as they are; empty where they were not.
	Refused string `json:"refused,omitempty"`
	// Use says what was learned of them.
	Use     string   `json:"use"`
	Remarks []string `json:"remarks,omitempty"`
	// Truth holds this against the captions that are known to be replaced; nil where none is known.
	Truth *FoundTruth `json:"truth,omitempty"`
	// Worst are the captions that are least probably of their bags, and Rates are those of words.
	Worst []WorstCaption `json:"worst,omitempty"`
	Rates []MentionRate  `json:"mention_rates,omitempty"`
}

// FoundTruth says how well the foreign captions were found.
type FoundTruth struct {
	Foreign     int         `json:"foreign"`
	AUC         eval.Number `json:"auc"`
	Precision   eval.Number `json:"precision"` // of what was dropped
	Recall      eval.Number `json:"recall"`
	ForeignKept eval.Number `json:"foreign_kept"` // share of what was kept
}

// WorstCaption is a caption that probably belongs to another bag.
type WorstCaption struct {
	Bag     string   `json:"bag"`
	Number  int      `json:"caption"` // in its bag, from 1
	Own     float64  `json:"own"`
	Words   []string `json:"words"`   // that it mentions
	Against []string `json:"against"` // those of them that speak against it
	Lacks   []string `json:"lacks"`   // words of the other captions that it lacks
	JPEG    []byte   `json:"-"`       // small picture of the bag; nil for none
}

// MentionRate says how often captions mention a word.
type MentionRate struct {
	Word      string      `json:"word"`
	Frequency eval.Number `json:"frequency"` // in all captions
	Holds     eval.Number `json:"holds"`     // in captions of bags where it holds
	Else      eval.Number `json:"else"`      // where it does not
	// Unsaid is how probable it is that no caption of a bag mentions it although it holds, told by repeats; undefined
	// where they do not tell.
	Unsaid eval.Number `json:"unsaid"`
}

// Lines sum up what was found, each a sentence without its full stop.
func (f *FoundCaptions) Lines() []string {
	if f.Refused != "" {
		return []string{"Captions are taken as they are: " + f.Refused}
	}
	line := fmt.Sprintf("%.1f %% of %d captions seem to belong to other bags", 100*float64(f.Foreign), f.Captions)
	if f.Low.Defined() {
		line += fmt.Sprintf(" (%.1f to %.1f %%)", 100*float64(f.Low), 100*float64(f.High))
	}
	lines := append([]string{line + ": " + f.Use}, f.Remarks...)
	if t := f.Truth; t != nil {
		known := fmt.Sprintf("%d captions are known to be replaced: AUC %.3f", t.Foreign, float64(t.AUC))
		if f.Dropped > 0 {
			known += fmt.Sprintf(", %.1f %% of those left out, and %.1f %% of those kept", 100*float64(t.Precision),
				100*float64(t.ForeignKept))
		}
		lines = append(lines, known)
	}
	return lines
}

// mentionRateTables tell how often words are mentioned; none where that is not known.
func mentionRateTables(rates []MentionRate) []*Table {
	if len(rates) == 0 {
		return nil
	}
	t := &Table{Title: "How often captions mention a word", Columns: []Column{{Name: "word", Text: true},
		{Name: "all captions", Decimals: 4}, {Name: "where it holds", Decimals: 3}, {Name: "where it does not", Decimals: 4},
		{Name: "nobody says it", Decimals: 3}}}
	for _, r := range rates {
		t.Rows = append(t.Rows, Row{Cells: []Cell{words(r.Word), number(r.Frequency), number(r.Holds), number(r.Else),
			number(r.Unsaid)}})
	}
	t.Notes = []string{"Nobody says it: the probability, told by how often captions repeat each other, that none of a " +
		"bag mentions a word that holds."}
	t.dropEmptyColumns()
	return []*Table{t}
}

// Marked are the words of a caption, marked where they speak against it, and those that it lacks.
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

// Name is the name of the bag as people may see it.
func (w *WorstCaption) Name() string { return visible.Line(w.Bag) }

// Picture is the picture as a data: URL, empty for none.
func (w *WorstCaption) Picture() template.URL {
	if len(w.JPEG) == 0 {
		return ""
	}
	return template.URL(jpegURL(w.JPEG))
}
