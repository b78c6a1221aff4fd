package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/labels/audit"
	"nmn/labels/rates"
)

// SuspectTable lists suspects, the surest first.
func SuspectTable(in audit.Input, suspects []audit.Suspect) *Table {
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
	pooledNote = "* no rates of its own that can be believed: ranked by the noise of the other words, which claims no precision."
)

// AuditClassTable sums up classes: how many of their labels are expected to be wrong, and suspects. It
// lists the most classes, those with the most labels expected to be wrong, in class order; 0 for all.
// estimate, where the rates come from one, tells why a class is not audited.
func AuditClassTable(in audit.Input, r *audit.Result, estimate *rates.Result, most int) *Table {
	t := &Table{
		Title: "By class",
		Columns: []Column{
			{Name: "word", Text: true}, {Name: "labels"}, {Name: "incorrect, expected", Decimals: 1},
			{Name: "suspected incorrect"}, {Name: "missing, expected", Decimals: 1}, {Name: "suspected missing"},
			{Name: "q01", Decimals: 3}, {Name: "q10", Decimals: 4},
		},
	}
	skipped, pooled := 0, 0
	for _, class := range r.Classes {
		if !class.Audited {
			skipped++
		} else if class.Pooled {
			pooled++
		}
	}
	if skipped > 0 {
		t.Columns = append(t.Columns, Column{Name: "not audited", Text: true})
	}
	for _, c := range noisiest(r.Classes, most) {
		class := r.Classes[c]
		cells := []Cell{words(in.Word(c)), count(class.Positives)}
		if class.Pooled {
			cells[0] = words(in.Word(c) + pooledMark)
		}
		if class.Audited {
			cells = append(cells, number(eval.Number(class.ExpectedIncorrect)), count(class.Incorrect),
				number(eval.Number(class.ExpectedMissing)), count(class.Missing), number(eval.Number(in.Rates.Q01[c])),
				number(eval.Number(in.Rates.Q10[c])))
		} else {
			for range 6 {
				cells = append(cells, number(eval.Undefined()))
			}
		}
		if skipped > 0 {
			cells = append(cells, words(whyNotAudited(in, r, estimate, c)))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	if len(t.Rows) < len(r.Classes) {
		t.Notes = append(t.Notes, fmt.Sprintf("The %d of %d classes with the most labels expected to be wrong.",
			len(t.Rows), len(r.Classes)))
	}
	if pooled > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d classes: %s", pooled, len(r.Classes), pooledNote))
	}
	if skipped > 0 {
		t.Notes = append(t.Notes,
			fmt.Sprintf("%d of %d classes are not audited: nothing tells how noisy their labels are, and no noise is made up for them.",
				skipped, len(r.Classes)))
	}
	return t
}

// whyNotAudited tells why a class is left out, and nothing of one that is not.
func whyNotAudited(in audit.Input, r *audit.Result, estimate *rates.Result, class int) string {
	switch n := r.Classes[class].Positives; {
	case r.Classes[class].Audited:
		return ""
	case estimate == nil:
		return "no rates given"
	case n == 0:
		return "on no bag"
	case n == in.Bags:
		return "on every bag"
	}
	var why []string
	for _, d := range estimate.Classes[class].Diagnoses {
		if alone := (rates.Class{Diagnoses: []rates.Diagnosis{d}}); !alone.Usable() {
			why = append(why, string(d))
		}
	}
	return strings.Join(why, "; ")
}

// noisiest are the most classes with the most labels expected to be wrong, in class order.
func noisiest(classes []audit.Class, most int) []int {
	order := make([]int, len(classes))
	for c := range order {
		order[c] = c
	}
	if most == 0 || most >= len(order) {
		return order
	}
	wrong := func(c int) float64 { return classes[c].ExpectedIncorrect + classes[c].ExpectedMissing }
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
