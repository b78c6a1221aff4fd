package train

import (
	"testing"
)

// Dropout draws new masks at every step of one batch and in every epoch for equal bags, and a picture is mirrored in
// some epochs and not in others. The learning rate is so small that no weight changes: without masks and mirrors the
// losses are equal.
func TestTrainer_DrawsMasksAndMirrorsAnew(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rig)
		differ bool
	}{
		"steps of one batch":   {func(r *rig) { r.config.Overfit, r.dropout = true, .5 }, true},
		"without dropout":      {func(r *rig) { r.config.Overfit = true }, false},
		"epochs of whole sets": {func(r *rig) { r.config.BatchSize, r.dropout = r.bags, .5 }, true},
		"plain epochs":         {func(r *rig) { r.config.BatchSize = r.bags }, false},
		"mirrored epochs":      {func(r *rig) { r.config.BatchSize, r.config.Flip = r.bags, true }, true},
	} {
		r := newRig()
		r.config.LearningRate, r.config.WeightDecay, r.config.Stage1Epochs, r.bags = 1e-30, 0, 3, 16
		c.change(&r)
		var losses []float64
		r.observers = []Observer{record(&losses)}
		run(t, r.trainer(t))
		for i := range losses {
			for j := range i {
				if differ := relative(losses[i], losses[j]) > 1e-6; differ != c.differ {
					t.Errorf("%s: losses %v of step %d and %v of %d", name, losses[j], j+1, losses[i], i+1)
				}
			}
		}
	}
}

func relative(a, b float64) float64 { return max(a-b, b-a) / max(a, b) }
