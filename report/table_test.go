package report

import (
	"slices"
	"strings"
	"testing"

	"nmn/captioner/metrics"
	"nmn/eval"
	"nmn/internal/expect"
	"nmn/labels"
	"nmn/text"
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

func TestTable4_MeansOverSeedsInTheOrderOfThePaper(t *testing.T) {
	scores := func(cider, bleu4, rouge, meteor float64) metrics.Scores {
		return metrics.Scores{CIDErD: cider, BLEU: [4]float64{.9, .8, .7, bleu4}, ROUGEL: rouge, METEOR: meteor}
	}
	table := Table4("Captions", []CaptionRow{
		{Name: "baseline", Scores: []metrics.Scores{scores(.3, .2, .5, .25), scores(.4, .2, .5, .25)}},
		{Name: "NMN-FI", Scores: []metrics.Scores{scores(.5, .1, .5, .25)}},
		{Name: "true concepts", Scores: []metrics.Scores{scores(.9, .9, .9, .9)}, Aside: true},
	})
	has(t, written(t, Markdown, table),
		"| Model | CIDEr | Bleu-4 | ROUGE-L | METEOR | seeds |",
		"| baseline | 35.0 ± 7.1 | **20.0 ± 0.0** | 50.0 ± 0.0 | 25.0 ± 0.0 | 2 |",
		"| NMN-FI | **50.0** | 10.0 | 50.0 | 25.0 | 1 |",
		"| true concepts | 90.0 | 90.0 | 90.0 | 90.0 | 1 |", // stands aside
	)
}

// Labels given by name have no parts of speech, and no table has a column for them. Words of captions have
// parts of speech.
func TestTables_HavePartsOfSpeechWhereWordsDo(t *testing.T) {
	for pos, want := range map[text.POS]bool{text.Others: false, text.NN: true} {
		r := &eval.Result{Words: []eval.Word{{Word: "dog", POS: pos.String()}}}
		r.Words[0].Labels = &eval.WordLabels{AP: .5, Positives: 2}
		r.GroupSize.All = 1
		if want {
			r.GroupSize.Group = make([]int, text.POSCount)
			r.GroupSize.Group[pos] = 1
		}
		row := labels.NewRow(text.Word{Text: "dog", POS: pos})
		row.Q01, row.Q10 = .1, .2
		tables := append(WordTables(r, 1), RateTables(labels.Table{row}, 1)...)
		tables = append(tables, expect.Value(PaperLayout(2, []Run{{Arm: nmnFD, Result: r}}))(t))
		for _, table := range tables {
			has := slices.ContainsFunc(table.Columns, func(c Column) bool { return c.Name == "POS" || c.Name == "NN" })
			if has != want {
				t.Errorf("%s of %v: columns %+v", table.Title, pos, table.Columns)
			}
			for _, row := range table.Rows {
				if len(row.Cells) != len(table.Columns) {
					t.Errorf("%s: %d cells in %d columns", table.Title, len(row.Cells), len(table.Columns))
				}
			}
		}
		if has := slices.Contains(labels.Table{row}.LearntColumns(), "pos"); has != want {
			t.Errorf("q.csv of %v has a column pos: %t", pos, has)
		}
	}
}
