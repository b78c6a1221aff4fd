package train

import (
	"testing"

	"nmn/internal/expect"
	"nmn/model"
	"nmn/ranks"
)

// echo is the group of a rank whose only peer repeats its messages and sums. It allocates nothing.
type echo struct {
	ranks.Alone
	heard [2][]byte
	names [2]string
}

func (*echo) Size() int         { return 2 }
func (e *echo) Names() []string { return e.names[:] }

func (e *echo) Gather(own []byte) ([][]byte, error) {
	e.heard = [2][]byte{own, own}
	return e.heard[:], nil
}

func (*echo) Sum(x []float32, _ ranks.Wire) error {
	for i := range x {
		x[i] *= 2
	}
	return nil
}

// Meetings, sums and messages allocate nothing after the first step, apart from the group's own allocations.
func TestRanks_AStepAllocatesNothingOnceShapesAreKnown(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"mil, fd, adam": func(r *rig) { r.mil, r.noise, r.dropout = true, model.FeatureDependent, .3 },
		"accumulation, clipping, sgd": func(r *rig) {
			r.config = sgd(r.config)
			r.config.Accumulate = 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.group = &echo{}
			change(&r)
			trainer := r.trainer(t)
			check(t, trainer.fetch(t.Context()))
			trainer.batches.epoch.Close() // its workers allocate too
			step := func() {
				check(t, trainer.meet(t.Context(), nil))
				e := StepDone{Progress: Progress{Step: 1}}
				expect.OK(t, trainer.updater.update(t.Context(), &trainer.batches, &e))
				if e.Ranks != 2 || e.Bags < 8 {
					t.Fatalf("%+v", e)
				}
			}
			step()
			allocatesNothing(t, step)
		})
	}
}

// Buckets and their order are functions of the parameters that learn, and the head's are apart from the blocks'.
func TestRanks_BucketsFollowTheParameters(t *testing.T) {
	r := newRig()
	r.noise, r.mil, r.group = model.FeatureDependent, true, &echo{}
	trainer := r.trainer(t)
	state, layers := &trainer.updater.sums, trainer.Net.Gradients()
	if state.buckets != 2 || state.upper != 1 || len(state.after) != len(layers) {
		t.Fatalf("%d buckets, %d of the upper part", state.buckets, state.upper)
	}
	for layer, bucket := range state.after {
		want := -1
		switch layer {
		case trainer.Net.UpperGradients() - 1:
			want = 0
		case len(layers) - 1:
			want = 1
		}
		if bucket != want {
			t.Errorf("layer %d completes bucket %d, want %d", layer, bucket, want)
		}
	}
}
