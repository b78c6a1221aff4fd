package noise

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// witness replaces the labels of an input by evidence: of both signs and several sizes, and some 0.
func (in stepInput) witness(factor float32) stepInput {
	for i := range in.labels.Float32s() {
		in.labels.Float32s()[i] = factor * float32(i%7-3)
	}
	return in
}

// The direct form and the form in logarithms agree at the point of change, and wherever both are accurate.
func TestEvidence_FormsAgree(t *testing.T) {
	for _, b := range []float64{-199, -60, -30, -1, 0, .5, 20, 40, 199} {
		for _, e := range []float64{-math.MaxFloat32, -1e4, -300, -40, -3, -.51, -.49, -1e-3, -1e-30, 1e-30, 1e-3, .49, .51,
			3, 40, 300, 1e4, math.MaxFloat32} {
			var direct, logarithms decision
			direct.witnessed(pooledLogit(b), e)
			logarithms.witnessedExtreme(b, e)
			what := fmt.Sprintf(" at %g, evidence %g", b, e)
			near(t, "loss"+what, float32(direct.loss.total()), logarithms.loss.total(), 1e-6, 1e-15)
			near(t, "gradient"+what, float32(direct.dLogit), logarithms.dLogit, 1e-6, 1e-37)
			near(t, "posterior"+what, float32(direct.posterior), logarithms.posterior, 1e-6, 1e-37)
		}
	}
}

// Evidence that leaves no doubt is a label, and evidence of 0 is none: both exactly.
func TestEvidence_WithoutDoubtIsALabel(t *testing.T) {
	for _, mil := range []bool{true, false} {
		in := drawStep(t, 67, 3, 4, 70)
		sure := optest.Floats(t, nil, 3, 70)
		for i, z := range in.labels.Float32s() {
			sure.Float32s()[i] = 1e4 * (2*z - 1)
			if i%5 == 0 {
				sure.Float32s()[i], in.labels.Float32s()[i] = 0, Unknown
			}
		}
		c, label, evidence := newTestCPU(t, 1), in.newOutput(t), in.newOutput(t)
		label.DO, evidence.DO = nil, nil
		optest.Must(t, c.NoiseStep(label, in.logits, nil, in.labels, nil, StepParams{MIL: mil, Scale: 1}))
		optest.Must(t, c.NoiseStep(evidence, in.logits, nil, sure, nil, StepParams{MIL: mil, Scale: 1, Evidence: true}))
		for i, want := range label.Loss.Float32s() {
			near(t, "loss", evidence.Loss.Float32s()[i], float64(want), 1e-6, 0)
		}
		for i, want := range label.DLogits.Float32s() {
			near(t, "gradient", evidence.DLogits.Float32s()[i], float64(want), 1e-6, 1e-37)
		}
		for i, e := range sure.Float32s() {
			want := label.Prob.Float32s()[i]
			if e != 0 {
				want = in.labels.Float32s()[i]
			}
			near(t, "posterior", evidence.Posterior.Float32s()[i], float64(want), 1e-6, 1e-37)
		}
		clear(sure.Float32s())
		optest.Must(t, c.NoiseStep(evidence, in.logits, nil, sure, nil, StepParams{MIL: mil, Scale: 1, Evidence: true}))
		for _, x := range [][]float32{evidence.Loss.Float32s(), evidence.DLogits.Float32s()} {
			for i, v := range x {
				if v != 0 {
					t.Fatalf("mil %t: without evidence element %d is %g", mil, i, v)
				}
			}
		}
		equal(t, StepOutput{Posterior: evidence.Posterior}, StepOutput{Posterior: evidence.Prob})
	}
}

func TestEvidence_RefusesWhatIsNoNumberAndWhatItExcludes(t *testing.T) {
	in := drawStep(t, 71, 2, 3, 4).witness(1)
	c, p := newTestCPU(t, 1), StepParams{Scale: 1, Evidence: true}
	loss := StepOutput{Loss: optest.Floats(t, nil, 2)}
	if err := c.NoiseStep(loss, in.logits, in.confidence, in.labels, nil, p); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("with a noise model: %v", err)
	}
	p.Asymmetric.Negative = 2
	if err := c.NoiseStep(loss, in.logits, nil, in.labels, nil, p); !errors.Is(err, ErrAsymmetric) {
		t.Errorf("with the asymmetric loss: %v", err)
	}
	p.Asymmetric = AsymmetricLoss{}
	for _, e := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		in.labels.Float32s()[5] = float32(e)
		loss.Loss.Float32s()[0] = 7
		if err := c.NoiseStep(loss, in.logits, nil, in.labels, nil, p); !errors.Is(err, ErrLabel) ||
			loss.Loss.Float32s()[0] != 7 {
			t.Errorf("evidence %g: %v", e, err)
		}
	}
}

func TestEvidence_NaNLogitSurfaces(t *testing.T) {
	nan := float32(math.NaN())
	for _, mil := range []bool{true, false} {
		for _, e := range []float32{-1e4, -1, 0, 1, 1e4} {
			out := StepOutput{Loss: optest.Floats(t, make([]float32, 1), 1), DLogits: optest.Floats(t, make([]float32, 2),
				1, 2, 1, 1)}
			logits := optest.Floats(t, []float32{1, nan}, 1, 2, 1, 1)
			optest.Must(t, newTestCPU(t, 1).NoiseStep(out, logits, nil, optest.Floats(t, []float32{e}, 1, 1), nil,
				StepParams{MIL: mil, Scale: 1, Evidence: true}))
			if loss, d := out.Loss.Float32s()[0], out.DLogits.Float32s()[0]; loss == loss || d == d {
				t.Errorf("mil %t, evidence %g: loss %g, gradient %g", mil, e, loss, d)
			}
		}
	}
}
