package report

import (
	"fmt"
	"slices"

	"nmn/eval"
)

// LabelledRun is a run compared with a run on other labels of the same bags.
type LabelledRun struct {
	Name      string `json:"name"`
	Bags      int    `json:"samples"` // that were learned
	Classes   int    `json:"classes"`
	Positives int    `json:"labels"`  // that are there
	Differ    int    `json:"changed"` // labels that the first run has otherwise
	// Known is set if the true labels are known. Incorrect and Missing count the labels that differ from them.
	Known     bool   `json:"truth_known"`
	Incorrect int    `json:"incorrect"`
	Missing   int    `json:"missing"`
	Split     string `json:"split"`         // of the evaluation
	Truth     bool   `json:"against_truth"` // they are against true labels
	// From 0 to 1.
	AP  eval.Number `json:"ap"`
	OF1 eval.Number `json:"of1"`
	CF1 eval.Number `json:"cf1"`
}

// LabelGainTable shows what other labels have gained: a run on each of them, the first to compare with.
func LabelGainTable(runs []LabelledRun) *Table {
	t := &Table{Title: "What the labels have gained", Columns: slices.Concat(TextColumns("run"),
		NumberColumns(0, "samples", "labels", "changed", "wrong", "incorrect", "missing"), NumberColumns(2, "wrong, %"),
		NumberColumns(1, "AP", "OF1", "CF1"))}
	for _, r := range runs {
		wrong, incorrect, missing, share := unknown(), unknown(), unknown(), unknown()
		if r.Known {
			n := r.Incorrect + r.Missing
			wrong, incorrect, missing = count(n), count(r.Incorrect), count(r.Missing)
			share = figure(100 * float64(n) / float64(max(r.Bags*r.Classes, 1)))
		}
		t.AddRow(words(r.Name), count(r.Bags), count(r.Positives), count(r.Differ), wrong, incorrect, missing, share,
			number(100*r.AP), number(100*r.OF1), number(100*r.CF1))
	}
	if len(runs) > 0 {
		against := "the labels of"
		if runs[0].Truth {
			against = "the true labels of"
		}
		t.Notes = append(t.Notes, fmt.Sprintf("The labels belong to the samples that each run has learned, with %d "+
			"classes. AP and F1 are in percent, against %s its %s split.", runs[0].Classes, against, runs[0].Split))
	}
	return t
}
