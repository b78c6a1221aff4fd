package report

import (
	"fmt"
	"slices"

	"nmn/eval"
	"nmn/labels/audit/multiclass"
)

// ClassAuditTables returns the tables of an audit of classes that exclude each other: the first top suspects (0 for
// none), the classes with the most suspects (0 for all), and, if the true labels are known, how well the ranking finds
// wrong labels.
func ClassAuditTables(r *multiclass.Report, top, classes int) []*Table {
	var tables []*Table
	if top > 0 {
		tables = append(tables, classSuspects(r, min(top, len(r.Suspects))))
	}
	tables = append(tables, classNoise(r, classes))
	if r.Judgement != nil {
		tables = append(tables, classJudgement(r.Judgement))
	}
	tables = append(tables, rowTables(r.Table, top, r.Known(), "")...)
	if r.Outcome != nil {
		last := tables[len(tables)-1]
		last.Notes = append(last.Notes, correctionNote(r.Outcome))
	}
	return tables
}

func classSuspects(r *multiclass.Report, top int) *Table {
	t := &Table{Title: "Labels that are probably wrong",
		Columns: append(TextColumns("sample", "label", "suggested"), NumberColumns(4, "p(wrong)", "p(suggested)")...),
		Notes:   []string{classSuspectNote(r) + fmt.Sprintf(" The confident joint flags %d.", len(r.Confident.Flagged))}}
	for at := range top {
		f := r.Finding(at)
		t.AddRow(words(f.ID), words(f.Given), words(f.Suggested), figure(f.Wrong), figure(f.P))
	}
	return t
}

// classSuspectNote returns the number of suspects in a sentence.
func classSuspectNote(r *multiclass.Report) string {
	surely := 0
	for surely < len(r.Suspects) && r.Suspects[surely].Wrong >= r.MinError {
		surely++
	}
	note := suspectCount(surely, r.Known(), "labels", r.MinError) + "."
	if r.Memorised {
		note += " p(wrong) orders them but is not calibrated, because what the nets confuse counts as noise."
	}
	if len(r.Suspects) > surely {
		note += fmt.Sprintf(" Suspects with the labels that confident learning flags: %d.", len(r.Suspects))
	}
	return note
}

func noiseNote(r *multiclass.Report) string {
	rate := fmt.Sprintf("labels are wrong at a rate of %.3f", r.Pooled)
	switch r.Noise {
	case multiclass.Even:
		return "Noise is spread evenly over the other classes: " + rate + "."
	case multiclass.Directed:
		return "Noise depends on the class: " + rate + "."
	case multiclass.Learned:
		return "Noise depends on the class, and the classifier has learned it, because its scores reach a ceiling: " +
			rate + "."
	}
	if r.Chance {
		return "The scores predict the labels no better than the shares of the classes do. The classifier has learned " +
			"too little to find wrong labels."
	}
	note := "The labels show no noise that is equal for all samples of a class. Either few labels are wrong, or the " +
		"wrong ones belong to classes that overlap, which the scores cannot separate. p(wrong) ranks the labels by " +
		"self-confidence and normalised margin. It does not estimate how many labels are wrong."
	if r.MinError <= multiclass.FlaggedToo {
		note += " The suspects are the labels that confident learning flags."
	}
	return note
}

func classNoise(r *multiclass.Report, most int) *Table {
	t := &Table{
		Title: "By class",
		Columns: slices.Concat(TextColumns("class"), NumberColumns(0, "labels", "suspects"),
			NumberColumns(1, "samples, expected"), NumberColumns(3, "labelled right"), TextColumns("else mostly"),
			NumberColumns(3, "at rate")),
		Notes: []string{noiseNote(r), fmt.Sprintf("The given label has the highest score on %.1f %% of the samples.",
			100*r.Agreement)},
	}
	order := largest(len(r.Classes), most, func(c int) float64 { return float64(r.Classes[c].Suspects) })
	if len(order) < len(r.Classes) {
		t.Notes = append(t.Notes, fmt.Sprintf("The table shows the %d of %d classes with the most suspects.", most,
			len(r.Classes)))
	}
	for _, y := range order {
		c := r.Classes[y]
		t.AddRow(words(r.Word(y)), count(c.Labels), count(c.Suspects), figure(c.True), figure(c.Right),
			words(r.Word(c.Confused)), figure(c.ConfusedRate))
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
		note += fmt.Sprintf(" The suggested class is right for %.1f %% of the suspects that are wrong.", 100*j.Suggested)
	}
	t.Notes = append(t.Notes, note)
	return t
}
