package noise

import (
	"errors"
	"math"
	"testing"

	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// sigmoid(o) - z would round to 0 here.
func TestNoiseStep_GradientOfConfidentLogitsKeepsItsDigits(t *testing.T) {
	do := optest.Floats(t, nil, 1, 1, 1, 2)
	o, z := optest.Floats(t, []float32{40, -40}, 1, 1, 1, 2), optest.Floats(t, []float32{1, 0}, 1, 2)
	optest.Must(t, newTestCPU(t, 1).NoiseStep(StepOutput{DLogits: do}, o, nil, z, nil, StepParams{Scale: 1}))
	near(t, "gradient at 40, label 1", do.Float32s()[0], -math.Exp(-40), 1e-6, 0)
	near(t, "gradient at -40, label 0", do.Float32s()[1], math.Exp(-40), 1e-6, 0)
}

func TestLabels_OutOfRangeAreRefused(t *testing.T) {
	nan := float32(math.NaN())
	c := newTestCPU(t, 1)
	for _, test := range []struct {
		label float32
		noisy bool
		ok    bool
	}{{0.5, false, true}, {0.5, true, false}, {1, true, true}, {nan, true, false}, {nan, false, false},
		{-0.1, false, false}, {1.1, false, false}} {
		in := drawStep(t, 1, 2, 3, 4)
		in.labels.Float32s()[6] = test.label
		out, confidence := in.newOutput(t), in.confidence
		if !test.noisy {
			out.DO, confidence = nil, nil
		}
		err := c.NoiseStep(out, in.logits, confidence, in.labels, nil, StepParams{Scale: 1})
		if test.ok != (err == nil) || err != nil && !errors.Is(err, ErrLabel) {
			t.Errorf("label %g, noisy %t: %v", test.label, test.noisy, err)
		}
		if err != nil && !math.IsNaN(float64(out.Loss.Float32s()[0])) {
			t.Errorf("label %g: refused after writing", test.label)
		}
	}
}

func TestShapes_ThatDoNotFitAreRefused(t *testing.T) {
	c := newTestCPU(t, 1)
	in := drawStep(t, 1, 2, 3, 4)
	logits, o, z := in.logits, optest.Floats(t, nil, 2, 4), in.labels
	step := func(out StepOutput, logits, confidence, labels, bags *tensor.Tensor) error {
		return c.NoiseStep(out, logits, confidence, labels, bags, StepParams{Scale: 1})
	}
	cases := map[string]error{
		"integer logits":             step(StepOutput{}, optest.Ints(t, 1), nil, nil, nil),
		"no logits":                  step(StepOutput{}, nil, nil, nil, nil),
		"logits of two dimensions":   step(StepOutput{}, o, nil, nil, nil),
		"no cells":                   step(StepOutput{}, optest.Floats(t, nil, 2, 0, 3, 4), nil, nil, nil),
		"confidence of a scalar":     step(StepOutput{}, logits, optest.Floats(t, nil), nil, nil),
		"confidence of one label":    step(StepOutput{}, logits, optest.Floats(t, nil, 2, 1, 2, 4), nil, nil),
		"posterior without labels":   step(StepOutput{Posterior: o}, logits, nil, nil, nil),
		"gradient without model":     step(StepOutput{DO: optest.Floats(t, nil, 2, 2, 2, 4)}, logits, nil, z, nil),
		"gradient on its own source": step(StepOutput{DLogits: logits}, logits, nil, z, nil),
	}
	for name, err := range cases {
		if !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
