package noise

import (
	"math"
	"testing"

	"nmn/tools/optest"
)

// Losses of classes are added by their products, which leave the range of numbers long before their
// logarithms do: a bag that is wrong about many classes has a large loss, not an infinite one.
func TestNoiseStep_LossOfManyWrongClassesIsFinite(t *testing.T) {
	const classes, logit = 1500, -40 // each label is 1, and exp(40·1500) is beyond every range
	logits, labels := make([]float32, classes), make([]float32, classes)
	for class := range classes {
		logits[class], labels[class] = logit, 1
	}
	certain := make([]float32, 4*classes) // a transition that changes 1 in 22027 labels
	for class := range classes {
		certain[class], certain[3*classes+class] = 10, 10
	}
	q11, q10 := 1/(1+math.Exp(-10)), 1/(1+math.Exp(10))
	p := 1 / (1 + math.Exp(-logit))
	for name, c := range map[string]struct {
		confidence []float32
		want       float64 // of a class
	}{
		"without a noise model": {nil, -math.Log(p)},
		"with a noise model":    {certain, -math.Log(q11*p + q10*(1-p))},
	} {
		out := StepOutput{Loss: optest.Floats(t, nil, 1)}
		o, z := optest.Floats(t, logits, 1, 1, 1, classes), optest.Floats(t, labels, 1, classes)
		confidence := optest.Floats(t, c.confidence, 1, 2, 2, classes)
		if c.confidence == nil {
			confidence = nil
		}
		if err := newTestCPU(t, 1).NoiseStep(out, o, confidence, z, nil, StepParams{Scale: 1}); err != nil {
			t.Fatal(err)
		}
		near(t, name+": loss", out.Loss.Float32s()[0], classes*c.want, 1e-6, 0)
	}
}
