package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/format/table"
	"nmn/labels/audit"
	"nmn/labels/rates"
)

// suspectTable lists suspects, the surest first.
func suspectTable(in audit.Input, suspects []audit.Suspect) *Table {
	t := &Table{
		Title: "Labels that are probably wrong",
		Columns: []Column{
			{Name: "bag", Text: true}, {Name: "word", Text: true}, {Name: "label is", Text: true},
			{Name: "p(wrong)", Decimals: 4}, {Name: "p(y=1)", Decimals: 4}, {Name: "q01", Decimals: 3},
			{Name: "q10", Decimals: 4},
		},
	}
	for _, s := range suspects {
		c := int(s.Class)
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			words(in.ID(int(s.Bag))), words(in.Word(c)), words(string(s.Kind())),
			number(eval.Number(s.Error())), number(eval.Number(s.P)), number(eval.Number(in.Rates.Q01[c])),
			number(eval.Number(in.Rates.Q10[c])),
		}})
		if in.IsPooled(c) {
			cells := t.Rows[len(t.Rows)-1].Cells
			cells[1] = words(in.Word(c) + pooledMark)
			t.Notes = []string{pooledNote}
		}
	}
	return t
}

// pooledMark stands behind words that are audited with pooled rates, and pooledNote says what it means.
const (
	pooledMark = " *"
	pooledNote = "* its own labels say little of its noise: judged by the noise of the other words, and no precision is " +
		"claimed."
)

// auditClassTable sums up classes: how many of their labels are expected to be wrong, and suspects. It
// lists the most classes, those with the most labels expected to be wrong, in class order; 0 for all.
// An estimate of the rates tells why a class is not audited.
func auditClassTable(r *audit.Report, most int) *Table {
	counts, all := r.Counts(), r.Result.Classes
	t := &Table{
		Title: "By class",
		Columns: []Column{
			{Name: "word", Text: true}, {Name: "labels"}, {Name: "incorrect, expected", Decimals: 1},
			{Name: "suspected incorrect"}, {Name: "missing, expected", Decimals: 1}, {Name: "suspected missing"},
			{Name: "q01", Decimals: 3}, {Name: "q10", Decimals: 4},
		},
	}
	if counts.NotAudited > 0 {
		t.Columns = append(t.Columns, Column{Name: "not audited", Text: true})
	}
	for _, c := range noisiest(all, most) {
		class := all[c]
		cells := []Cell{words(r.Word(c)), count(class.Positives)}
		if class.Pooled {
			cells[0] = words(r.Word(c) + pooledMark)
		}
		if class.Audited {
			incorrect, missing := class.Expected()
			cells = append(cells, number(incorrect), count(class.Incorrect), number(missing), count(class.Missing),
				number(eval.Number(r.Rates.Q01[c])), number(eval.Number(r.Rates.Q10[c])))
		} else {
			for range 6 {
				cells = append(cells, number(eval.Undefined()))
			}
		}
		if counts.NotAudited > 0 {
			cells = append(cells, words(whyNotAudited(r, c)))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	if len(t.Rows) < counts.Classes {
		t.Notes = append(t.Notes, fmt.Sprintf("The %d of %d classes with the most labels expected to be wrong.",
			len(t.Rows), counts.Classes))
	}
	if counts.Pooled > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d classes: %s", counts.Pooled, counts.Classes, pooledNote))
	}
	if counts.NotAudited > 0 {
		t.Notes = append(t.Notes,
			fmt.Sprintf("%d of %d classes are not audited: nothing tells how noisy their labels are, and no noise is made up "+
				"for them.",
				counts.NotAudited, counts.Classes))
	}
	return t
}

// whyNotAudited tells why a class is left out, and nothing of one that is not.
func whyNotAudited(r *audit.Report, class int) string {
	switch n := r.Result.Classes[class].Positives; {
	case r.Result.Classes[class].Audited:
		return ""
	case r.Estimate == nil:
		return "no rates given"
	case n == 0:
		return "on no bag"
	case n == knownLabels(r, class):
		return "on every bag"
	}
	var why []string
	for _, d := range r.Estimate.Classes[class].Diagnoses {
		if alone := (rates.Class{Diagnoses: []rates.Diagnosis{d}}); !alone.Usable() {
			why = append(why, string(d))
		}
	}
	return strings.Join(why, "; ")
}

// knownLabels is how many labels of a class are known.
func knownLabels(r *audit.Report, class int) (n int) {
	for i := class; i < len(r.Labels); i += r.Input.Classes {
		if r.Labels[i] != table.Unknown {
			n++
		}
	}
	return n
}

// noisiest are the most classes with the most labels expected to be wrong, in class order. Classes with pooled rates,
// for which nothing is claimed, come last.
func noisiest(classes []audit.Class, most int) []int {
	order := make([]int, len(classes))
	for c := range order {
		order[c] = c
	}
	if most == 0 || most >= len(order) {
		return order
	}
	wrong := func(c int) float64 {
		if classes[c].Pooled {
			return -1
		}
		return classes[c].ExpectedIncorrect + classes[c].ExpectedMissing
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wrong(b), wrong(a)) })
	order = order[:most]
	slices.Sort(order)
	return order
}

// JudgementTable holds the audit and its rivals against the truth.
func JudgementTable(j *audit.Judgement) *Table {
	t := judgementTable(j.Wrong, []string{"AP", "AP, incorrect", "AP, missing"}, []ranking{
		{"posterior", []eval.Number{j.Posterior.AP, j.Posterior.IncorrectAP, j.Posterior.MissingAP}, j.Posterior.PrecisionAt},
		{"|z - p|", []eval.Number{j.Difference.AP, j.Difference.IncorrectAP, j.Difference.MissingAP},
			j.Difference.PrecisionAt}})
	c := j.Confident
	t.Notes = append(t.Notes, "Confident learning, class by class, "+flagged(c.Labels, c.Precision, c.Recall,
		c.PosteriorPrecision)+" Self-confidence and normalised margin order labels as |z - p| does.")
	return t
}

// ranking is how well an order of labels finds the wrong ones.
type ranking struct {
	name        string
	ap          []eval.Number
	precisionAt map[int]eval.Number
}

// judgementTable holds rankings against the truth, the average precisions of each in columns of these names and its
// precision at the places of the first one.
func judgementTable(wrong int, ap []string, rankings []ranking) *Table {
	t := &Table{Title: fmt.Sprintf("Finding the %d wrong labels (%%)", wrong),
		Columns: []Column{{Name: "ranked by", Text: true}}}
	at := slices.Sorted(maps.Keys(rankings[0].precisionAt))
	for _, name := range ap {
		t.Columns = append(t.Columns, Column{Name: name, Decimals: 2})
	}
	for _, k := range at {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("P@%d", k), Decimals: 2})
	}
	for _, r := range rankings {
		cells := []Cell{words(r.name)}
		for _, v := range r.ap {
			cells = append(cells, number(100*v))
		}
		for _, k := range at {
			cells = append(cells, number(100*r.precisionAt[k]))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	t.dropEmptyColumns()
	return t
}

// flagged says how well confident learning does beside as many labels by posterior.
func flagged(labels int, precision, recall, posterior eval.Number) string {
	s := fmt.Sprintf("flags %d labels", labels)
	if precision.Defined() {
		s += fmt.Sprintf(": precision %.2f %%, recall %.2f %%; the posterior's first %d have precision %.2f %%",
			100*precision, 100*recall, labels, 100*posterior)
	}
	return s + "."
}
