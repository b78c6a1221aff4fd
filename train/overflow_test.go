package train

import (
	"errors"
	"math"
	"testing"

	"nmn/loader"
	"nmn/model"
)

// A gradient may overflow although the loss does not. The step is not made then: one NaN in a weight soon
// spreads to all.
func TestRun_GradientThatOverflowsChangesNothing(t *testing.T) {
	net := noisy(t, model.NoNoise, 2, 3)
	for name, v := range map[string]float32{
		"head.fc1.weight": 0, "head.fc1.bias": 1, "head.fc2.weight": 1e10, "head.fc2.bias": 0, // logits of 6e10
	} {
		p := named(net, name)
		values := make([]float32, p.W.Len())
		for i := range values {
			values[i] = v
		}
		check(t, net.SetValues(p, values))
	}
	huge := rowsOf{{1e30, 0}, {0, 1e30}} // times 1e10 is beyond float32
	config := newRig().config
	config.MaxSteps = 1
	trainer := newTrainer(t, Options{Config: config, Stage: 1, Net: net, Data: rowsSet(t, huge, "a", "b", "c"),
		Loader: loader.DefaultConfig()})
	before := weights(t, net)
	_, err := trainer.Run(t.Context())
	var broken *NonFiniteError
	if !errors.As(err, &broken) || math.IsNaN(broken.Loss) || math.IsInf(broken.Loss, 0) || finite(broken.GradientNorm) {
		t.Errorf("error %v, want one about the gradient alone", err)
	}
	sameWeights(t, weights(t, net), before, "the step changed parameters")
}
