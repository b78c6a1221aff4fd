package eval

import (
	"math"
	"testing"

	"nmn/format/table"
	"nmn/internal/rng"
)

// Unknown labels are in no measure: scores of bags without a known label change nothing but the counts of
// bags.
func TestEvaluate_LeavesUnknownLabelsOut(t *testing.T) {
	const bags, classes = 60, 3
	s := rng.New(4)
	whole := Input{Classes: classes, Logits: true}
	part := whole
	for i := range bags {
		for range classes {
			score, z := float32(s.Normal(0, 2)), uint8(s.Intn(2))
			if whole.Scores = append(whole.Scores, score); i%3 == 0 {
				whole.Labels = append(whole.Labels, table.Unknown)
				continue
			}
			whole.Labels = append(whole.Labels, z)
			part.Scores, part.Labels = append(part.Scores, score), append(part.Labels, z)
		}
	}
	whole.Bags, part.Bags = bags, len(part.Scores)/classes
	whole.Truth, part.Truth = nil, nil
	o := Options{PlugIn: .4}
	got := evaluate(t, whole, o)
	want := evaluate(t, part, o)
	for c := range classes {
		if *got.Words[c].Labels != *want.Words[c].Labels {
			t.Errorf("class %d: %+v, want %+v", c, *got.Words[c].Labels, *want.Words[c].Labels)
		}
	}
	share := float64(part.Bags) / bags
	if g, w := float64(got.Labels.LogLoss), float64(want.Labels.LogLoss)*share; math.Abs(g-w) > 1e-12 {
		t.Errorf("loss %v over all bags, want %v", g, w)
	}
	got.Labels.LogLoss = want.Labels.LogLoss
	if g, w := got.Labels, want.Labels; g.AP.All != w.AP.All || g.AtThreshold.All != w.AtThreshold.All ||
		g.AtPlugIn.All != w.AtPlugIn.All || g.AtTopK.All != w.AtTopK.All || g.Brier.All != w.Brier.All ||
		g.ECE.All != w.ECE.All {
		t.Errorf("%+v, want %+v", got.Labels, want.Labels)
	}
	curves, err := PrecisionRecall(whole.Scores, whole.Labels, classes, nil)
	check(t, err)
	known, err := PrecisionRecall(part.Scores, part.Labels, classes, nil)
	if err != nil || len(curves.All) != len(known.All) || curves.All[0] != known.All[0] {
		t.Errorf("curve %v, want %v (%v)", curves.All, known.All, err)
	}
	whole.Truth = whole.Labels
	if _, err := Evaluate(whole, o); err == nil {
		t.Error("the truth may be unknown")
	}
}
