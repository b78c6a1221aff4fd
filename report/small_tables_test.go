package report

import (
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/eval"
)

// Every figure of the small tables stands below its own name.
func TestTables_OfCaptionsAndFolds(t *testing.T) {
	scores := metrics.Scores{BLEU: [4]float64{.1, .2, .3, .4}, METEOR: .5, ROUGEL: .6, CIDErD: .7}
	for _, c := range []struct {
		table *Table
		want  []string
	}{
		{CaptionScores("Captions", scores, 9, "exact stem"), []string{
			"| captions | BLEU-1 | BLEU-2 | BLEU-3 | BLEU-4 | METEOR | ROUGE-L | CIDEr-D |",
			"| 9 | 0.100 | 0.200 | 0.300 | 0.400 | 0.500 | 0.600 | 0.700 |"}},
		{FoldLossTable("Folds", []float64{.3, .2, .25}, 2), []string{
			"| 1 | 0.3000 |  |", "| 2 | 0.2000 | least: the scores come from this epoch |", "| 3 | 0.2500 |  |"}},
	} {
		has(t, written(t, Markdown, c.table), c.want...)
	}
}

// People are shown what does not show; programs get words as they are.
func TestWrite_WordsCannotActOnATerminal(t *testing.T) {
	word := "dog\x1b[2J"
	table := &Table{Title: word, Columns: []Column{{Name: word, Text: true}}, Rows: []Row{{Cells: []Cell{words(word)}}},
		Notes: []string{word}}
	for format, want := range map[Format]int{Text: 4, Markdown: 4, JSON: 0, CSV: 0} {
		text := written(t, format, table)
		if got := strings.Count(text, `x1b[2J`); got != want || want > 0 && strings.Contains(text, "\x1b") {
			t.Errorf("%s: %d escapes are shown in %q, want %d", format, got, text, want)
		}
	}
	if got := table.Rows[0].Cells[0].Text; got != word {
		t.Errorf("the table has %q now", got)
	}
}

// What rounds to 0 is written without a sign; what does not keeps it.
func TestCell_ZeroHasNoSign(t *testing.T) {
	for v, want := range map[float64]string{-.04: "0.0", -.06: "-0.1", 0: "0.0", .04: "0.0"} {
		if got := (Cell{Value: eval.Number(v), Spread: eval.Undefined()}).display(Column{Decimals: 1}); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}
