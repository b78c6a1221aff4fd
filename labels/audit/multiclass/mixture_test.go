package multiclass

import (
	"context"
	"math"
	"testing"

	"nmn/internal/expect"
)

// A classifier has learned a direction of the noise, and often takes a row for the class of its wrong label. The labels
// that are said to be wrong are wrong as often as that, in each tenth of p.
func TestMixture_IsCalibrated(t *testing.T) {
	for _, pairs := range []float64{.2, .4} {
		in, o := simulated(8000, 5, pairs, 1), DefaultOptions()
		o.Plateau = true
		r := expect.Value(Audit(context.Background(), in, o))(t)
		if r.mixture == nil || r.Memorised || math.Abs(r.Pooled-pairs) > .03 {
			t.Fatalf("%g of pairs: %v noise of %.3f, mixture %t", pairs, r.Noise, r.Pooled, r.mixture != nil)
		}
		if j := r.Judgement; j.Posterior.AP < .95 || j.Posterior.AP < max(j.Self.AP, j.Margin.AP)+.1 {
			t.Errorf("%g of pairs: %+v", pairs, j)
		}
		var said, wrong, labels [10]float64
		for i, s := range r.Table.Scores {
			at := min(int(10*s.Wrong), 9)
			said[at] += s.Wrong
			labels[at]++
			if r.Labels[i] != r.Truth[i] {
				wrong[at]++
			}
		}
		for at, n := range labels {
			if off := math.Abs(said[at] - wrong[at]); off > .07*n+math.Sqrt(n) {
				t.Errorf("%g of pairs: of %.0f labels %.1f should be wrong, and %.0f are", pairs, n, said[at], wrong[at])
			}
		}
	}
}

// If labels follow the scores, no class explains them, however they are spread.
func TestMixture_OfNoiseAtTheBoundaryIsNone(t *testing.T) {
	in, o := simulated(8000, 3, 0, .6), DefaultOptions()
	o.Plateau = true
	for i := range in.Labels {
		p, first, second := in.Scores[i*6:][:6], 0, 1
		for y := range p {
			if p[y] > p[first] {
				first = y
			}
		}
		for y := range p {
			if y != first && (second == first || p[y] > p[second]) {
				second = y
			}
		}
		if in.Labels[i] = int32(first); i%3 == 0 && p[second] > .1 {
			in.Labels[i] = int32(second)
		}
	}
	r := expect.Value(Audit(context.Background(), in, o))(t)
	if r.mixture != nil {
		t.Errorf("%v noise of %.3f", r.Noise, r.Pooled)
	}
}
