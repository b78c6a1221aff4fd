package train

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"nmn/internal/durable"
	"nmn/kernels"
	"nmn/kernels/tensor"
)

// fill sets all numbers of a tensor on a device.
func fill(t *testing.T, device kernels.Backend, to *tensor.Tensor, value float32) {
	t.Helper()
	values := make([]float32, to.Len())
	for i := range values {
		values[i] = value
	}
	check(t, device.Upload(to, tensor.HostArray(tensor.Float32, values)))
}

// A checkpoint that could not be read is not written, and the one before it stays.
func TestSave_RefusesMomentsThatAreNotFinite(t *testing.T) {
	for _, value := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		r := short()
		r.directory = t.TempDir()
		trainer := r.trainer(t)
		run(t, trainer)
		fill(t, trainer.Net.Backend(), trainer.optimizer.entries[3].V, float32(value))
		trainer.keeper.saved = nil
		err := trainer.save()
		var broken *NonFiniteError
		if !errors.As(err, &broken) || broken.Step != 3 || broken.Epoch != 1 || broken.Tensor == "" {
			t.Errorf("%v: error %v", value, err)
		}
		check(t, r.trainer(t).Resume(filepath.Join(r.directory, LastName)))
		if got := names(t, r.directory); len(got) != 1 {
			t.Errorf("files %q", got)
		}
	}
}

// Adam keeps squares of gradients: one whose square is beyond float32 ends the run before it does harm, unless it is
// clipped. So does a loss or gradient that is not finite.
func TestNonFinite_LossGradientAndItsSquare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		kind             string
		clip, loss, norm float64
		broken           bool
	}{{Adam, 0, 1, 1e19, false}, {Adam, 0, 1, 2e19, true}, {Adam, 5, 1, 2e19, false}, {SGD, 0, 1, 2e19, false},
		{SGD, 0, 0, 0, false}, {SGD, 0, nan, 1, true}, {SGD, 0, inf, 1, true}, {SGD, 0, -inf, 1, true},
		{SGD, 5, 1, inf, true}, {Adam, 0, 1, nan, true}} {
		o := Optimizer{config: OptimizerConfig{UpdateConfig: UpdateConfig{Optimizer: c.kind}, ClipNorm: c.clip}}
		if err := o.NonFinite(&Progress{Loss: c.loss, GradNorm: c.norm}); (err != nil) != c.broken {
			t.Errorf("%s clipped to %v, loss %g, norm %g: %v", c.kind, c.clip, c.loss, c.norm, err)
		}
	}
}

// However wildly a training goes, its last checkpoint can be read.
func TestRun_CheckpointOfADivergingRunCanBeRead(t *testing.T) {
	for _, rate := range []float64{1, 1e5, 1e10, 1e20, 1e30} {
		r := newRig()
		r.directory, r.config.LearningRate, r.config.CheckpointSteps = t.TempDir(), rate, 1
		if _, err := r.trainer(t).Run(t.Context()); err != nil && !errors.Is(err, ErrNonFinite) {
			t.Errorf("rate %g: %v", rate, err)
		}
		last := filepath.Join(r.directory, LastName)
		if !durable.Exists(last) {
			continue
		}
		if err := r.trainer(t).Resume(last); err != nil {
			t.Errorf("rate %g: %v", rate, err)
		}
	}
}
