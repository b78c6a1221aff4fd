package noise

import (
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// stepInput is a batch drawn at random: bags with cells cells each.
type stepInput struct {
	bags, cells, classes       int
	logits, confidence, labels *tensor.Tensor
}

// drawStep draws logits of deviation 2, confidences of deviation 2 for each bag, and labels.
func drawStep(t testing.TB, seed uint64, bags, cells, classes int) stepInput {
	stream := rng.New(seed)
	in := stepInput{bags: bags, cells: cells, classes: classes}
	in.logits = optest.Normal(t, &stream, 2, bags, cells, 1, classes)
	in.confidence = optest.Normal(t, &stream, 2, bags, 2, 2, classes)
	in.labels = optest.Normal(t, &stream, 1, bags, classes)
	for i, v := range in.labels.Float32s() {
		in.labels.Float32s()[i] = 0
		if v > 0 {
			in.labels.Float32s()[i] = 1
		}
	}
	return in
}

// newOutput makes all destinations, filled with NaN, so that elements that a step leaves out show.
func (in stepInput) newOutput(t testing.TB) StepOutput {
	n, k := in.bags, in.classes
	return StepOutput{
		Loss: optest.Floats(t, nil, n), DLogits: optest.Floats(t, nil, in.logits.Shape()...), DO: optest.Floats(t, nil,
			n, 2, 2, k),
		Prob: optest.Floats(t, nil, n, k), Observed: optest.Floats(t, nil, n, k), Posterior: optest.Floats(t, nil, n, k),
		BagLogit: optest.Floats(t, nil, n, k),
	}
}

// newTestCPU computes at the level of the environment, the best one by default.
func newTestCPU(t testing.TB, threads int) *CPU {
	return NewCPU(optest.Device(t, threads), optest.Level(t))
}
