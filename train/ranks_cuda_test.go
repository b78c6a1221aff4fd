//go:build cuda

package train

import (
	"fmt"
	"testing"

	"nmn/model"
)

// Ranks on cards record the gradients in two parts, with the sums between them. They learn bit for bit what
// they learn without recording, and up to the order of sums what one card learns.
func TestCUDA_RanksRecordTheirSteps(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"uneven, dropout": func(r *rig) { r.bags, r.dropout = 21, .3 },
		"accumulation, nmn-fd, clipping": func(r *rig) {
			r.mil, r.noise, r.config.Accumulate, r.config.ClipNorm = true, model.FeatureDependent, 2, .5
		},
		"frozen backbone": func(r *rig) { r.config.Freeze = []string{"backbone.*"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.bags = 24
			change(&r)
			r.config.Stage1Epochs, r.config.MaxSteps = 8, 8
			run := func(size int, noGraphs bool) outcome {
				own := r
				own.device = card(noGraphs)
				all := learnOn(t, own, size, nil)
				for rank, got := range all {
					check(t, got.err)
					sameOnAll(t, all[0], got, fmt.Sprintf("rank 0 and rank %d", rank))
				}
				return all[0]
			}
			recorded, direct := run(2, false), run(2, true)
			sameOnAll(t, direct, recorded, "steps call by call and recorded ones")
			if recorded.graphs < 3 || direct.graphs != 0 { // upper gradients, norm, update, at least
				t.Errorf("%d graphs were recorded, and %d that should not be", recorded.graphs, direct.graphs)
			}
			if most, of := distance(run(1, false).weights, recorded.weights); !(most <= 1e-5) {
				t.Errorf("%s differs by %.3g of its norm from one card", of, most)
			}
		})
	}
}
