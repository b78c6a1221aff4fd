package train

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// The callback sees each epoch before a checkpoint records it, may run the net, and changes nothing.
func TestAfterEpoch_ComesBeforeTheCheckpoint(t *testing.T) {
	for _, limit := range []int{0, 8} { // of steps: 5 make an epoch
		r := newRig()
		r.dropout, r.config.MaxSteps, r.config.Stage1Epochs = .3, limit, 2
		alone := r.trainer(t)
		run(t, alone)

		r.directory = t.TempDir()
		o := r.options(t)
		var seen []int
		o.AfterEpoch = func(ctx context.Context, at Position) error {
			seen = append(seen, at.Epoch, at.Step)
			if c, err := ReadCheckpoint(filepath.Join(o.Directory, LastName)); err == nil &&
				c.Position.Epoch > at.Epoch {
				t.Errorf("epoch %d: the checkpoint is at epoch %d", at.Epoch, c.Position.Epoch)
			}
			_, err := Score(ctx, o.Net, o.Data, o.loaderConfig())
			return err
		}
		judged := newTrainer(t, o)
		run(t, judged)
		want := []int{1, 5, 2, 10}
		if limit > 0 {
			want[3] = limit
		}
		if !slices.Equal(seen, want) {
			t.Errorf("limit %d: called at epochs and steps %v, want %v", limit, seen, want)
		}
		if !reflect.DeepEqual(weights(t, judged.Net), weights(t, alone.Net)) {
			t.Errorf("limit %d: other weights than alone", limit)
		}
	}
}
