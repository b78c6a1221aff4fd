package main

import (
	"testing"

	"nmn/report"
)

func TestNouns_OfTheData(t *testing.T) {
	labels, captions := nouns{"pictures", true}, nouns{"clips", false}
	for _, c := range []struct {
		n         nouns
		old, want string
	}{
		{labels, "Bags whose labels fit least", "Pictures whose labels fit least"},
		{labels, "35 of 36 words not estimated (bag, word, sky)", "35 of 36 labels not estimated (bag, word, sky)"},
		{labels, "baggage, sword, keyword", "baggage, sword, keyword"},
		{labels, "a bag (open", "a picture (open"},
		{labels, "3 words are in words/bag.csv, my-bags/x and \"word\". No bag.", "3 labels are in words/bag.csv, my-bags/x and \"word\". No picture."},
		{labels, `words in C:\words\x, bag.npy`, `labels in C:\words\x, bag.npy`},
		{captions, "each bag of a sample has words", "each clip of a clip has words"},
	} {
		if got := c.n.text(c.old); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.old, got, c.want)
		}
	}
	table := &report.Table{Columns: []report.Column{{Name: "word"}, {Name: "labels"}, {Name: "found"}},
		Rows: []report.Row{{Cells: []report.Cell{{Text: "bag"}, {Text: "3"}, {Text: "on no bag"}}}}}
	labels.tables([]*report.Table{table})
	if got := table.Columns[0].Name + ", " + table.Rows[0].Cells[0].Text + ", " +
		table.Rows[0].Cells[2].Text; got != "class, bag, on no picture" {
		t.Errorf("the table has %s", got)
	}
}
