//go:build cuda && emulate

package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader"
	"nmn/model"
	"nmn/ranks"
	"nmn/tools/emulator"
)

// cardSettings are settings of training on ranks, each with another order of sums and steps.
func cardSettings() map[string]func(*rig) {
	return map[string]func(*rig){
		"accumulation, dropout, sgd": func(r *rig) {
			r.config = sgd(r.config)
			r.config.Accumulate, r.bags, r.dropout = 2, 33, .3
		},
		"nmn-fd, mil, ragged": func(r *rig) {
			r.source = func(s loader.Source) loader.Source { return films{s} }
			r.mil, r.noise, r.bags = true, model.FeatureDependent, 35
		},
		"more ranks than bags": func(r *rig) { r.config.BatchSize, r.bags = 2, 9 },
	}
}

// Ranks that are goroutines, each with its own instance of the emulated card, sum their gradients over NCCL's
// emulation. Delayed work reveals an event that is missing between a step, recorded or not, and its sums.
func TestCUDA_RanksLearnWhatOneRankLearns(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for name, change := range cardSettings() {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			change(&r)
			r.config.Stage1Epochs, r.config.MaxSteps = 10, 8
			r.device = card(false)
			late(t, "")
			alone := learnOn(t, r, 1, nil)[0]
			check(t, alone.err)
			for streams, size := range map[string]int{"all": 2, "first": 3} {
				late(t, streams)
				t.Setenv(emulator.LogVariable, log)
				all := learnOn(t, r, size, nil)
				t.Setenv(emulator.LogVariable, "")
				worst := 0.0
				for rank, got := range all {
					check(t, got.err)
					most, of := distance(alone.weights, got.weights)
					if worst = max(worst, most); !(most <= 1e-4) {
						t.Errorf("%d ranks, rank %d: %s is apart by %.3g of its norm", size, rank, of, most)
					}
					sameOnAll(t, all[0], got, fmt.Sprintf("rank 0 and rank %d of %d", rank, size))
					samePosition(t, alone, got)
				}
				t.Logf("%d ranks, %s late: weights are apart by %.2g of their norm at most", size, streams, worst)
			}
		})
	}
	text, err := os.ReadFile(log)
	check(t, err)
	if strings.Count(string(text), "ncclAllReduce\n") < 8*5*len(cardSettings()) {
		t.Error("the gradients were not summed by NCCL")
	}
}

// Gradients that travel between cards in bfloat16 are equal on all ranks, and near those in float32.
func TestCUDA_RanksSumInBFloat16(t *testing.T) {
	r := newRig()
	r.config = sgd(r.config)
	r.config.Stage1Epochs, r.config.MaxSteps, r.device = 10, 6, card(false)
	late(t, "first")
	exact := learnOn(t, r, 2, nil)[0]
	r.wire = ranks.BFloat16
	all := learnOn(t, r, 2, nil)
	check(t, all[0].err)
	sameOnAll(t, all[0], all[1], "the ranks")
	if most, of := distance(exact.weights, all[0].weights); most == 0 || !(most <= 1e-2) {
		t.Errorf("%s is apart by %.3g of its norm from float32", of, most)
	}
}
