package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

type ranked struct {
	word eval.Word
	by   eval.Number
}

// WordTables lists the n best and the n worst classes by average precision: with human agreement if there are captions,
// otherwise against the true labels, otherwise against the labels. At most n classes share one list.
func WordTables(r *eval.Result, n int) []*Table {
	list, by := rankedWords(r)
	noun := ClassNoun(r)
	if len(list) <= n {
		return []*Table{wordTable(fmt.Sprintf("%s by %s, the best first", capital(noun.String()), by), noun, list)}
	}
	worst := slices.Clone(list[len(list)-n:])
	slices.Reverse(worst)
	tables := []*Table{
		wordTable(fmt.Sprintf("Best %d %s by %s", n, noun, by), noun, list[:n]),
		wordTable(fmt.Sprintf("Worst %d %s by %s", n, noun, by), noun, worst),
	}
	return tables
}

// rankedWords orders the classes with a defined measure, the best first. Ties keep the class order.
func rankedWords(r *eval.Result) ([]ranked, string) {
	by, of := "AP against labels", func(w *eval.Word) eval.Number {
		if w.Labels == nil {
			return eval.Undefined()
		}
		return w.Labels.AP
	}
	switch {
	case r.Human != nil:
		by, of = "human AP", func(w *eval.Word) eval.Number { return w.Human.AP }
	case r.Truth != nil:
		by, of = "AP against the truth", func(w *eval.Word) eval.Number { return w.Truth.AP }
	}
	var list []ranked
	for i := range r.Words {
		if v := of(&r.Words[i]); v.Defined() {
			list = append(list, ranked{r.Words[i], v})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.by, a.by) })
	return list, by
}

func wordTable(title string, noun text.Plural, list []ranked) *Table {
	t := &Table{Title: title, Columns: slices.Concat(TextColumns(noun.One(), posColumn),
		NumberColumns(2, "AP", "P at human recall"), NumberColumns(0, "number"), NumberColumns(2, "F1"))}
	for _, w := range list {
		phr, bags, f1 := eval.Undefined(), dash, eval.Undefined()
		if w.word.Human != nil {
			phr = w.word.Human.PrecisionAtHumanRecall
		}
		if l := cmp.Or(w.word.Truth, w.word.Labels); l != nil {
			bags, f1 = fmt.Sprint(l.Positives), l.F1
		}
		t.AddRow(words(w.word.Word), words(w.word.POS), number(100*w.by), number(100*phr), words(bags), number(100*f1))
	}
	t.dropEmptyColumns()
	t.dropPOS()
	return t
}

// estimatedRates returns the rows with known rates.
func estimatedRates(all labels.Table) labels.Table {
	return slices.DeleteFunc(slices.Clone(all), func(r labels.Row) bool { return math.IsNaN(r.Q01) && math.IsNaN(r.Q10) })
}

// unestimatedNotes returns a sentence for each reason why rates were not estimated.
func unestimatedNotes(all labels.Table) (notes []string) {
	byReason := map[string][]string{}
	var reasons []string
	for _, r := range all {
		if r.Remarks == "" || !math.IsNaN(r.Q01) {
			continue
		}
		if byReason[r.Remarks] == nil {
			reasons = append(reasons, r.Remarks)
		}
		byReason[r.Remarks] = append(byReason[r.Remarks], r.Word)
	}
	for _, reason := range reasons {
		words := byReason[reason]
		list := strings.Join(words[:min(len(words), wordsShown)], ", ")
		if len(words) > wordsShown {
			list += ", ..."
		}
		notes = append(notes, fmt.Sprintf("%d of %d classes %s (%s).", len(words), len(all), reason, list))
	}
	return notes
}

// RateTables lists the n classes that are most often missing (q01) and most often incorrect (q10). Notes name the
// classes without known rates.
func RateTables(rates labels.Table, n int) []*Table {
	table := func(title string, of func(labels.Row) float64) *Table {
		list := estimatedRates(rates)
		slices.SortStableFunc(list, func(a, b labels.Row) int { return cmp.Compare(of(b), of(a)) })
		t := &Table{Title: title,
			Columns: append(TextColumns("class", posColumn), NumberColumns(3, "q01", "T01", "q10", "T10")...)}
		for _, w := range list[:min(n, len(list))] {
			t.AddRow(words(w.Word), words(w.POS.String()), figure(w.Q01), figure(w.T01), figure(w.Q10), figure(w.T10))
		}
		t.dropEmptyColumns()
		t.dropPOS()
		t.Notes = unestimatedNotes(rates)
		return t
	}
	return []*Table{
		table("Most often missing: largest q01 = p(z=0|y=1)", func(r labels.Row) float64 { return r.Q01 }),
		table("Most often incorrect: largest q10 = p(z=1|y=0)", func(r labels.Row) float64 { return r.Q10 }),
	}
}

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
