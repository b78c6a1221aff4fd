package report

import (
	"slices"
	"testing"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

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
		paper, err := PaperTable([]Run{{Arm: nmnFD, Result: r}})
		check(t, err)
		for _, table := range append(tables, paper) {
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
