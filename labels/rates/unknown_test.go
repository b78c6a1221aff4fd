package rates

import (
	"reflect"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/rng"
)

// Unknown labels have the effect of removing their bags for their classes.
func TestEstimate_LeavesUnknownLabelsOut(t *testing.T) {
	const bags, classes = 600, 3
	s := rng.New(3, 1)
	var known, whole Input
	known.Classes, whole.Classes = classes, classes
	for i := range 2 * bags {
		var scores []float32
		var labels []uint8
		for range classes {
			o := s.Normal(0, 3)
			z := uint8(0)
			if s.Float64() < Sigmoid(o) && s.Float64() < .8 {
				z = 1
			}
			scores, labels = append(scores, float32(o)), append(labels, z)
		}
		if i%2 == 0 {
			known.Bags++
			known.Scores, known.Labels = append(known.Scores, scores...), append(known.Labels, labels...)
		} else {
			for c := range labels {
				labels[c] = table.Unknown
			}
		}
		whole.Bags++
		whole.Scores, whole.Labels = append(whole.Scores, scores...), append(whole.Labels, labels...)
	}
	want, err := Estimate(t.Context(), known, DefaultOptions())
	expect.OK(t, err)
	got, err := Estimate(t.Context(), whole, DefaultOptions())
	for c := range want.Classes {
		want.Classes[c].Unknown = bags
	}
	if err != nil || !reflect.DeepEqual(got.Classes, want.Classes) {
		t.Errorf("%v: %+v, want %+v", err, got, want)
	}
	if got.Classes[0].Positives < bags/8 {
		t.Errorf("only %d labels: nothing was put to the test", got.Classes[0].Positives)
	}
	for i := range whole.Labels {
		whole.Labels[i] = table.Unknown
	}
	none, err := Estimate(t.Context(), whole, DefaultOptions())
	if err != nil || none.Classes[1].Usable() {
		t.Errorf("no label is known: %v, %+v", err, none)
	}
	whole.Labels[7] = 2
	if _, err := Estimate(t.Context(), whole, DefaultOptions()); err == nil {
		t.Error("label 2 is taken")
	}
}
