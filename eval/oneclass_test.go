package eval

import (
	"math"
	"slices"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// oneClassInput has four bags of seven classes. The label of the last bag is unknown to these measures.
func oneClassInput() Input {
	const k = 7
	p := []float32{
		.7, .1, .1, .05, .03, .01, .01, // right
		.1, .2, .3, .15, .15, .05, .05, // label 1 is second
		.3, .25, .2, .1, .1, .04, .01, // label 6 is last
		.7, .1, .1, .05, .03, .01, .01,
	}
	in := Input{Bags: 4, Classes: k, Scores: p, Labels: make([]uint8, 4*k), Exclusive: true}
	in.Labels[0], in.Labels[k+1], in.Labels[2*k+6] = 1, 1, 1
	return in
}

func TestOneClass_AccuracyAndConfusion(t *testing.T) {
	in := oneClassInput()
	want := (-math.Log(.7) - math.Log(.2) - math.Log(.01)) / 3
	for _, logits := range []bool{false, true} {
		if in.Logits = logits; logits {
			in.Scores = slices.Clone(in.Scores)
			for i, p := range in.Scores {
				in.Scores[i] = float32(math.Log(float64(p)) - math.Log1p(-float64(p)))
			}
		}
		r := evaluate(t, in, Options{})
		o := r.Labels.OneClass
		if o == nil || o.Bags != 3 {
			t.Fatalf("logits %t: %+v", logits, o)
		}
		for name, pair := range map[string][2]float64{
			"accuracy": {float64(o.Accuracy), 1. / 3}, "top 5": {float64(o.Top5), 2. / 3},
			"balanced": {float64(o.Balanced), 1. / 3}, "log loss": {float64(r.Labels.LogLoss), want},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("logits %t: %s is %v, want %v", logits, name, pair[0], pair[1])
			}
		}
		counts := make([]int, 49)
		counts[0], counts[7+2], counts[6*7] = 1, 1, 1
		if !slices.Equal(o.Confusion, counts) {
			t.Errorf("logits %t: confusion %v", logits, o.Confusion)
		}
	}
}

func TestOneClass_IsForExclusiveClassesAlone(t *testing.T) {
	in := oneClassInput()
	in.Exclusive = false
	r, err := Evaluate(in, Options{})
	if err != nil || r.Labels.OneClass != nil {
		t.Errorf("%+v, %v", r.Labels.OneClass, err)
	}
}

func TestOneClass_TopFiveOfFewClassesIsUndefined(t *testing.T) {
	in := Input{Bags: 1, Classes: 2, Scores: []float32{.4, .6}, Labels: []uint8{0, 1}, Exclusive: true}
	r, err := Evaluate(in, Options{})
	if err != nil || r.Labels.OneClass.Top5.Defined() || r.Labels.OneClass.Accuracy != 1 {
		t.Errorf("%+v, %v", r.Labels.OneClass, err)
	}
}

// Unknown labels are in no measure: scores of bags without a known label change nothing but the counts of bags.
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
	expect.OK(t, err)
	known, err := PrecisionRecall(part.Scores, part.Labels, classes, nil)
	if err != nil || len(curves.All) != len(known.All) || curves.All[0] != known.All[0] {
		t.Errorf("curve %v, want %v (%v)", curves.All, known.All, err)
	}
	whole.Truth = whole.Labels
	if _, err := Evaluate(whole, o); err == nil {
		t.Error("the truth may be unknown")
	}
}
