package report

import (
	"slices"
	"strings"

	"nmn/eval"
	"nmn/labels/audit/rows"
	"nmn/text"
)

// rowsShown is how many rows the table shows at most.
const rowsShown = 10

// rowTables returns the rows whose labels fit least, and the totals. samples is the noun for the rows.
func rowTables(t *rows.Table, top, labels int, samples text.Plural) []*Table {
	var tables []*Table
	if n := min(top, rowsShown, t.Len()); n > 0 {
		tables = append(tables, rowTable(t.Top(n), samples))
	}
	return append(tables, foundTable(t.Summary(labels), samples))
}

// rowTable lists rows. The row whose labels fit least comes first.
func rowTable(top []rows.Row, samples text.Plural) *Table {
	t := &Table{
		Title: capital(samples.String()) + " whose labels fit least",
		Columns: slices.Concat(TextColumns(samples.One()), NumberColumns(4, "quality"), NumberColumns(0, "suspects"),
			TextColumns("most probably wrong"), NumberColumns(4, "p(wrong)"), TextColumns("suggested")),
		Notes: []string{"Quality is between 0 and 1. It averages the probabilities that the labels of a row are right, and " +
			"the least probable labels weigh most."},
	}
	for _, r := range top {
		worst := r.Word
		if r.Kind != "class" && r.Kind != "" {
			worst += " (" + r.Kind + ")"
		}
		t.AddRow(words(r.ID), known(r.Quality), count(int(r.Suspects)), words(worst), known(r.Wrong),
			words(r.Suggest))
	}
	t.dropIfEmpty("suggested")
	return t
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func known(v *float64) Cell {
	if v == nil {
		return unknown()
	}
	return figure(*v)
}

// foundTable returns the totals of everything that was found.
func foundTable(s rows.Summary, samples text.Plural) *Table {
	t := &Table{Title: "Totals", Columns: []Column{{Name: "found", Text: true}, {Name: "number"}, {Name: "of"},
		{Name: "share (%)", Decimals: 2}}}
	add := func(what string, n, of int) {
		share := eval.Undefined()
		if of > 0 {
			share = eval.Number(100 * float64(n) / float64(of))
		}
		t.AddRow(words(what), count(n), count(of), number(share))
	}
	add("suspects", s.Suspects, s.Labels)
	add(samples.String()+" with suspects", s.SuspectRows, s.Rows)
	return t
}
