package report

import (
	"slices"
	"strings"

	"nmn/text"
)

// partsOfSpeech are the names of the groups of words.
var partsOfSpeech = [text.POSCount]string{"nouns", "verbs", "adjectives", "determiners", "pronouns", "prepositions",
	"other words"}

// groupTitle is the name of a group in a chart: "nouns (NN)".
func groupTitle(p text.POS) string {
	if p == text.Others {
		return partsOfSpeech[p]
	}
	return partsOfSpeech[p] + " (" + p.String() + ")"
}

// spellOut adds a note to a table of a page that explains its abbreviations of parts of speech.
func (t *pageTable) spellOut() {
	var meanings []string
	for p, name := range partsOfSpeech[:text.Others] {
		short := text.POS(p).String()
		used := slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == short })
		for i, c := range t.Columns {
			used = used || c.Name == posColumn && slices.ContainsFunc(t.Rows, func(r pageRow) bool {
				return r.Cells[i].Text == short
			})
		}
		if used {
			meanings = append(meanings, short+" "+name)
		}
	}
	if meanings != nil {
		t.Notes = append(slices.Clone(t.Notes), "Parts of speech: "+strings.Join(meanings, ", ")+".")
	}
}

const posColumn = "POS"

// dropPOS removes the column of parts of speech if no word of the table has one.
func (t *Table) dropPOS() {
	at := t.column(posColumn)
	if !slices.ContainsFunc(t.Rows, func(r Row) bool {
		return r.Cells[at].Text != "" && r.Cells[at].Text != text.Others.String()
	}) {
		t.drop(t.column(posColumn))
	}
}
