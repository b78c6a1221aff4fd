package train

import (
	"testing"
)

// Dropout draws new masks at every step of one batch, and in every epoch for equal bags. The learning rate is
// so small that no weight changes: without masks the losses are equal.
func TestDropout_MasksAreDrawnAnew(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"steps of one batch":   func(r *rig) { r.config.Overfit = true },
		"epochs of whole sets": func(r *rig) { r.config.BatchSize = r.bags },
	} {
		for _, dropout := range []float64{0, .5} {
			r := newRig()
			r.config.LearningRate, r.config.WeightDecay, r.config.Stage1Epochs = 1e-30, 0, 3
			r.dropout, r.bags, r.config.BatchSize = dropout, 16, 8
			r.config.Flip = false
			r.config.WarmupSteps = 0
			change(&r)
			var losses []float64
			r.observers = []Observer{record(&losses)}
			run(t, r.trainer(t))
			for i := range losses {
				for j := range i {
					if differ := relative(losses[i], losses[j]) > 1e-5; differ != (dropout > 0) {
						t.Errorf("%s, dropout %v: losses %v of steps %d and %v of %d", name, dropout, losses[j], j+1, losses[i], i+1)
					}
				}
			}
		}
	}
}

// A picture is mirrored in some epochs and not in others.
func TestFlip_IsDrawnAnewInEveryEpoch(t *testing.T) {
	for _, flip := range []bool{false, true} {
		r := newRig()
		r.config.LearningRate, r.config.WeightDecay, r.config.Stage1Epochs = 1e-30, 0, 3
		r.bags, r.config.BatchSize, r.config.Flip = 16, 16, flip
		var losses []float64 // of the epochs, each one batch
		r.observers = []Observer{record(&losses)}
		run(t, r.trainer(t))
		for i := range losses {
			for j := range i {
				if differ := relative(losses[i], losses[j]) > 1e-6; differ != flip {
					t.Errorf("flips %t: losses %v of epoch %d and %v of %d", flip, losses[j], j+1, losses[i], i+1)
				}
			}
		}
	}
}

func relative(a, b float64) float64 { return max(a-b, b-a) / max(a, b) }
