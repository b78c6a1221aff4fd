package run_test

import (
	"path/filepath"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/durable"
	"nmn/recipe"
	"nmn/run"
)

// Results of older programs have measures of a single picture, and of pictures that were learned.
func TestReadOutcome_DropsMeasuresThatShowNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		split          string
		bags, positive int
		want           string
	}{
		{"test", 1, 1, "each label is on all or on none of what is measured (1)"},
		{"train", 9, 4, "nothing was held out"},
		{"test", 9, 4, ""},
	} {
		labels := &eval.WordLabels{Positives: c.positive, AP: 1}
		result := &eval.Result{Bags: c.bags, Classes: 1, Measures: eval.Measures{PlugIn: .4, Labels: &eval.MultiLabel{}},
			Words: []eval.Word{{Word: "cat", WordMeasures: eval.WordMeasures{Labels: labels}}}}
		dir := t.TempDir()
		old := run.Outcome{Split: c.split, Judgement: recipe.Judgement{Evaluation: result}}
		must(t, durable.SaveJSON(filepath.Join(dir, run.ResultFile), old))
		o, err := run.ReadOutcome(dir)
		must(t, err)
		if !strings.Contains(o.NotMeasured, c.want) || o.Evaluation.Measured() != (c.want == "") ||
			o.Evaluation.PlugIn != .4 {
			t.Errorf("%d pictures of %s: %q, measured %t", c.bags, c.split, o.NotMeasured, o.Evaluation.Measured())
		}
	}
	if o, err := run.ReadOutcome(t.TempDir()); o != nil || err != nil {
		t.Errorf("an empty folder: %+v, %v", o, err)
	}
}
