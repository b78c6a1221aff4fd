package train

import (
	"math"
	"slices"
	"testing"

	"nmn/loader"
	"nmn/model"
)

// EachScore shows for each bag the logits of Score, with rates whose mean Score has.
func TestEachScore_IsScoreAndRatesTogether(t *testing.T) {
	const bags, input = 11, 4
	rows := make(rowsOf, bags)
	for i := range rows {
		rows[i] = []float32{float32(i), 1, float32(i % 3), -2}
	}
	const k = 3
	set := rowsSet(t, rows, "a", "b", "c")
	config := loader.DefaultConfig()
	config.BatchSize = 4 // the last batch is smaller
	for _, mode := range []model.NoiseMode{model.NoNoise, model.FeatureIndependent, model.FeatureDependent} {
		net := noisy(t, mode, input, k)
		scores, err := Score(t.Context(), net, set, config)
		check(t, err)
		mean := make([]float64, 2*k)
		visited := 0
		_, err = EachScore(t.Context(), nil, net, set, config, func(bag int, logits, q01, q10 []float32) {
			if bag != visited || !slices.Equal(logits, scores.Logits.Float32s()[bag*k:(bag+1)*k]) {
				t.Errorf("%s: bag %d in place %d has logits %v", mode, bag, visited, logits)
			}
			if (q01 == nil) != (mode == model.NoNoise) {
				t.Errorf("%s: bag %d has rates %v and %v", mode, bag, q01, q10)
			}
			for i, q := range slices.Concat(q01, q10) {
				mean[i] += float64(q) / bags
			}
			visited++
		})
		check(t, err)
		if visited != bags {
			t.Errorf("%s: %d bags visited", mode, visited)
		}
		if scores.Rates == nil {
			continue
		}
		for i, want := range slices.Concat(scores.Rates.Q01, scores.Rates.Q10) {
			if math.Abs(mean[i]-want) > 1e-6 {
				t.Errorf("%s: mean rate %d is %v, want %v", mode, i, mean[i], want)
			}
		}
	}
}
