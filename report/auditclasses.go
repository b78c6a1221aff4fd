package report

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/labels/audit/multiclass"
)

// ClassAuditTables show what an audit of labels of classes that exclude each other has found: the first suspects, none
// of them for 0, the classes with the most suspects, all of them for 0, and where the truth is known what became of the
// ranking.
func ClassAuditTables(r *multiclass.Report, top, classes int) []*Table {
	var tables []*Table
	if top > 0 {
		tables = append(tables, classSuspects(r, min(top, len(r.Suspects))))
	}
	tables = append(tables, classNoise(r, classes))
	if r.Judgement != nil {
		tables = append(tables, classJudgement(r.Judgement))
	}
	tables = append(tables, rowTables(r.Table, top, r.Known())...)
	if o := r.Outcome; o != nil {
		s := fmt.Sprintf("%d labels are corrected in %s", o.Changed, o.Labels)
		if o.ExpectedPrecision.Defined() {
			s += fmt.Sprintf(" with an expected precision of %.1f %%", 100*o.ExpectedPrecision)
		}
		last := tables[len(tables)-1]
		last.Notes = append(last.Notes, s+"; "+o.Changes+" tells why.")
	}
	return tables
}

func classSuspects(r *multiclass.Report, top int) *Table {
	t := &Table{
		Title: "Labels that are probably wrong",
		Columns: []Column{{Name: "bag", Text: true}, {Name: "label", Text: true}, {Name: "suggested", Text: true},
			{Name: "p(wrong)", Decimals: 4}, {Name: "p(suggested)", Decimals: 4}},
	}
	surely := 0
	for surely < len(r.Suspects) && r.Suspects[surely].Wrong >= r.MinError {
		surely++
	}
	note := suspectCount(surely, r.Known(), "labels", r.MinError) + "."
	if len(r.Suspects) > surely {
		note += fmt.Sprintf(" With the labels that confident learning prunes, the suspects are %d.", len(r.Suspects))
	}
	t.Notes = []string{note + fmt.Sprintf(" The confident joint flags %d.", len(r.Confident.Flagged))}
	for at := range top {
		f := r.Finding(at)
		t.Rows = append(t.Rows, Row{Cells: []Cell{words(f.ID), words(f.Given), words(f.Suggested), figure(f.Wrong),
			figure(f.P)}})
	}
	return t
}

// noiseNote says which kind of noise was found.
func noiseNote(r *multiclass.Report) string {
	rate := fmt.Sprintf("labels are wrong at a rate of %.3f", r.Pooled)
	switch r.Noise {
	case multiclass.Even:
		return "Noise is spread evenly over the other classes: " + rate + "."
	case multiclass.Directed:
		return "Noise depends on the class: " + rate + "."
	case multiclass.Learned:
		return "Noise depends on the class, and the scores have learned it, for they reach a ceiling: " + rate + "."
	}
	note := "The labels show no noise that is the same for all bags of a class. Either few labels are wrong, or wrong " +
		"ones lie where classes overlap, and scores cannot tell which. p(wrong) orders the labels by self-confidence and " +
		"normalised margin, and is half of the doubt of the scores, no estimate of how many labels are wrong."
	if r.MinError <= multiclass.FlaggedToo {
		note += " The suspects are what confident learning prunes."
	}
	return note
}

func classNoise(r *multiclass.Report, most int) *Table {
	t := &Table{
		Title: "By class",
		Columns: []Column{{Name: "class", Text: true}, {Name: "labels"}, {Name: "suspects"},
			{Name: "bags, expected", Decimals: 1},
			{Name: "labelled right", Decimals: 3}, {Name: "else mostly", Text: true}, {Name: "at rate", Decimals: 3}},
		Notes: []string{noiseNote(r), fmt.Sprintf("The highest score is that of the label on %.1f %% of the bags.",
			100*r.Agreement)},
	}
	order := make([]int, len(r.Classes))
	for c := range order {
		order[c] = c
	}
	if most > 0 && most < len(order) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Classes[b].Suspects, r.Classes[a].Suspects) })
		order = order[:most]
		slices.Sort(order)
		t.Notes = append(t.Notes, fmt.Sprintf("The %d of %d classes with the most suspects.", most, len(r.Classes)))
	}
	for _, y := range order {
		c := r.Classes[y]
		t.Rows = append(t.Rows, Row{Cells: []Cell{words(r.Word(y)), count(c.Labels), count(c.Suspects), figure(c.True),
			figure(c.Right), words(r.Word(c.Confused)), figure(c.ConfusedRate)}})
	}
	return t
}

func classJudgement(j *multiclass.Judgement) *Table {
	var rankings []ranking
	for _, r := range []struct {
		name string
		multiclass.Ranking
	}{{"posterior", j.Posterior}, {"self-confidence", j.Self}, {"normalised margin", j.Margin}} {
		rankings = append(rankings, ranking{r.name, []eval.Number{r.AP}, r.PrecisionAt})
	}
	t := judgementTable(j.Wrong, []string{"AP"}, rankings)
	c := j.Confident
	note := "Confident learning " + flagged(c.Labels, c.Precision, c.Recall, c.PosteriorPrecision)
	if j.Suggested.Defined() {
		note += fmt.Sprintf(" Of suspects that are wrong, %.1f %% get the true class suggested.", 100*j.Suggested)
	}
	t.Notes = append(t.Notes, note)
	return t
}
