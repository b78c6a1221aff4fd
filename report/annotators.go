package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nmn/labels/annotators"
)

// AnnotatorTable lists the annotators of an audit, the least reliable first. It has at most top of them, or
// all if top is 0. Its notes report the expected errors of the consensus labels.
func AnnotatorTable(r *annotators.Report, top int) *Table {
	t := &Table{
		Title: fmt.Sprintf("Reliability of %d annotators from %d rows on %d samples × %d labels: q01 = p(not given | true), "+
			"q10 = p(given | not true)", len(r.AnnotatorNames), len(r.Rows), r.Result.Bags, r.Result.Classes),
		Columns: slices.Concat(TextColumns("annotator"), NumberColumns(0, "samples", "given"),
			NumberColumns(3, "q01", "q01 low", "q01 high"), NumberColumns(4, "q10", "q10 low", "q10 high"),
			NumberColumns(3, "1-q01-q10", "accuracy"), NumberColumns(1, "incorrect", "missing"),
			NumberColumns(3, "agreement"), TextColumns("remarks")),
	}
	order := make([]int, len(r.Result.Annotators))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(r.Result.Annotators[a].Informedness, r.Result.Annotators[b].Informedness)
	})
	if top > 0 && top < len(order) {
		order = order[:top]
	}
	for _, j := range order {
		a := &r.Result.Annotators[j]
		t.AddRow(
			words(r.AnnotatorNames[j]), count(a.Bags), whole(a.Given), figure(a.Q01), figure(a.Q01Interval.Low),
			figure(a.Q01Interval.High), figure(a.Q10), figure(a.Q10Interval.Low), figure(a.Q10Interval.High),
			figure(a.Informedness), figure(a.Accuracy), figure(a.Incorrect), figure(a.Missing), figure(a.Agreement),
			words(a.Remark()),
		)
	}
	t.dropEmptyColumns()
	t.Notes = annotatorNotes(r, len(order))
	return t
}

func annotatorNotes(r *annotators.Report, shown int) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if all := len(r.AnnotatorNames); shown < all {
		add("The table lists the %d least reliable of %d annotators.", shown, all)
	}
	add("All annotators together: q01 %.3f, q10 %.4f, with the weight of %.0f true and %.0f untrue labels of an "+
		"annotator. The intervals have a confidence of %g %%.", r.PooledQ01, r.PooledQ10, r.Strength01, r.Strength10,
		100*r.Confidence)
	consensus := fmt.Sprintf("%d labels are true with a probability of at least .5", r.Consensus)
	switch wrong, lacking := r.ConsensusShares(); {
	case r.Exclusive:
		add("Every answer has exactly one label, so labels exclude each other. Rates are means over labels.")
		consensus = fmt.Sprintf("%d samples have their most probable label. About %.1f %% of these are expected to be wrong",
			r.Consensus, 100*wrong)
	case wrong.Defined() && lacking.Defined():
		consensus += fmt.Sprintf(". About %.1f %% of these are expected to be wrong, and %.1f %% of the true labels to be "+
			"missing", 100*wrong, 100*lacking)
	}
	notes = append(notes, consensus+".")
	if n := r.Outside; n > 0 {
		add("%d labels are left out, because the vocabulary or the scores lack them.", n)
	}
	if len(r.Ignored) > 0 {
		add("Unused columns: %s.", strings.Join(r.Ignored, ", "))
	}
	return append(notes, r.Result.Notes...)
}
