package recipe

import (
	"math"
	"testing"

	"nmn/labels/rates"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
)

// Shifted evidence leaves each class in as many bags as the rates expect. A class without rates, and data without
// verified bags, keep their evidence.
func TestAnchor_KeepsThePrevalence(t *testing.T) {
	r := &Recipe{
		Options: Options{Settings: Settings{NoiseRates: FoldsOf + "2"}, Data: &dataset.Splits{}},
		plain:   &round{logits: []float32{-3, 0, -1, 0, .5, 0}, bags: []int{2, 0, 3}},
		found:   &rates.Result{Classes: []rates.Class{{A: 1.5, B: .4}, {A: 1, Diagnoses: []rates.Diagnosis{rates.TooFew}}}},
	}
	before := []float32{-.4, 1, 3, 1, -.7, 1, -.9, 1}
	evidence := append([]float32(nil), before...)
	must(t, r.anchor(t.Context(), evidence))
	for i, e := range evidence {
		if e != before[i] {
			t.Fatalf("nothing is verified, and evidence %d is %v, was %v", i, e, before[i])
		}
	}
	r.Data.Verified = &manifest.Verified{Bags: []int{1}}
	must(t, r.anchor(t.Context(), evidence))
	learned, expected := 0.0, 0.0
	for i, bag := range r.plain.bags {
		l := 1.5*float64(r.plain.logits[2*i]) + .4
		learned, expected = learned+rates.Sigmoid(l+float64(evidence[2*bag])), expected+rates.Sigmoid(l)
	}
	if math.Abs(learned-expected) > 1e-5 {
		t.Errorf("the class is in %v of 3 bags, want %v", learned, expected)
	}
	shift := evidence[0] - before[0]
	for bag := range 4 {
		if got := evidence[2*bag] - before[2*bag]; math.Abs(float64(got-shift)) > 1e-5 || evidence[2*bag+1] != 1 {
			t.Errorf("bag %d: shifted by %v, want %v; without rates %v", bag, got, shift, evidence[2*bag+1])
		}
	}
}
