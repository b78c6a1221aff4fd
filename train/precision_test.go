package train

import (
	"math"
	"testing"

	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/tools/conform"
)

// Some updates of the fixtures' net in reduced precision. Losses stay near the golden ones, within the
// rounding of a loss and the drift of this number of steps, and fall from step to step.
func TestTinyNet_OptimizersInTF32AndBF16(t *testing.T) {
	params := conform.LoadFixture(t, "tiny_net_params")
	for p, rounding := range map[tensor.Precision]float64{tensor.TF32: 0x1p-10, tensor.BF16: 0x1p-8} {
		t.Run(string(p), func(t *testing.T) {
			for _, pattern := range []string{"tiny_net_sgd*", "tiny_net_adam*"} {
				for _, name := range conform.FixtureNames(t, pattern) {
					f := conform.LoadFixture(t, name)
					net, plan := tinyOn(t, conform.OpenDeviceIn(t, 2, p), params, model.FeatureDependent)
					c, steps := fixtureConfig(f)
					got, want := descend(t, net, plan, c, steps), f.Expected("loss").Data
					worst := 0.0
					for i := range want {
						off := math.Abs(float64(got[i])/want[i] - 1)
						if worst = max(worst, off); !(off <= 16*rounding) {
							t.Errorf("%s: loss %d is %v, want %v: off by %.2g, at most %.2g",
								name, i, got[i], want[i], off, 16*rounding)
						}
					}
					t.Logf("%s: losses of %d updates are off by at most %.2g", name, steps, worst)
					if fall := float64(got[0]-got[steps]) / (want[0] - want[steps]); !(math.Abs(fall-1) < .1) {
						t.Errorf("%s: the loss falls from %v to %v, want from %v to %v",
							name, got[0], got[steps], want[0], want[steps])
					}
				}
			}
		})
	}
}
