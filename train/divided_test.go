package train

import (
	"slices"
	"testing"

	"nmn/group"
	"nmn/kernels/tensor"
)

// Ranks that can hold memory together do so in each step: there is one copy of weights, moments and averages, and a
// gradient for each rank. Before and behind their steps each has its own.
func TestRanks_HoldWhatLearnsTogetherInTheirSteps(t *testing.T) {
	r := newRig()
	r.config.MaxSteps, r.config.EMA = 3, .9
	const ranks = 3
	type address = *float32
	var within, behind [ranks][]address
	asRanks(t, ranks, func(g group.Group) {
		own := r
		own.group = g
		var trainer *Trainer
		tensors := func() (all []address) {
			for _, e := range trainer.optimizer.entries {
				for _, x := range []*tensor.Tensor{e.W, e.M, e.V, e.Average, e.G} {
					all = append(all, &x.Float32s()[0])
				}
			}
			return all
		}
		own.observers = []Observer{{Step: func(StepDone) { within[g.Rank()] = tensors() }}}
		trainer = own.trainer(t)
		before := tensors()
		if _, err := trainer.Run(t.Context()); err != nil {
			t.Error(err)
		}
		behind[g.Rank()] = tensors()
		if slices.Contains(before, within[g.Rank()][0]) || trainer.ranks.reducer == nil {
			t.Errorf("rank %d: weights have not moved, or nothing is left to sum gradients", g.Rank())
		}
	})
	for i, first := range within[0] {
		for rank := 1; rank < ranks; rank++ {
			if gradient := i%5 == 4; (within[rank][i] == first) == gradient {
				t.Errorf("tensor %d of ranks 0 and %d: gradient %t, in one place %t", i, rank, gradient, !gradient)
			}
			if behind[rank][i] == behind[0][i] || behind[rank][i] == within[rank][i] {
				t.Errorf("tensor %d of rank %d is not its own behind the steps", i, rank)
			}
		}
	}
}

// Gradients that are to travel in bfloat16 do, and ranks of several hosts send theirs.
func TestRanks_HoldNothingTogetherWhereGradientsTravel(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"bfloat16":      func(r *rig) { r.wire = group.BFloat16 },
		"several hosts": func(r *rig) { r.group = byMessages{r.group} },
	} {
		r := newRig()
		r.config.MaxSteps = 1
		asRanks(t, 2, func(g group.Group) {
			own := r
			own.group = g
			change(&own)
			var trainer *Trainer
			own.observers = []Observer{{Step: func(StepDone) {
				if trainer.optimizer.divided.shared != nil {
					t.Errorf("%s: memory is held together", name)
				}
			}}}
			trainer = own.trainer(t)
			if _, err := trainer.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
