package noise

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
	"nmn/tools/optest"
)

// Without weights the asymmetric loss is the cross-entropy, whose code is another.
func TestFocused_WithoutFocusIsTheCrossEntropy(t *testing.T) {
	for _, b := range []float64{-1e4, -700, -200, -30, -1, 0, .5, 20, 40, 300, 1e4} {
		for _, z := range []float64{0, .25, 1} {
			var clean, focused decision
			clean.clean(pooledLogit(b), z)
			focused.focused(pooledLogit(b), z, AsymmetricLoss{})
			near(t, fmt.Sprintf("loss at %g, target %g", b, z), float32(focused.loss.total()), clean.loss.total(), 1e-6, 1e-37)
			near(t, fmt.Sprintf("gradient at %g, target %g", b, z), float32(focused.dLogit), clean.dLogit, 1e-6, 1e-37)
		}
	}
}

// Negatives below the margin have neither loss nor gradient, exactly, and nothing is NaN on either side of
// it, or for the smallest of exponents.
func TestFocused_NegativesBelowTheMarginTeachNothing(t *testing.T) {
	const margin = .25
	edge := math.Log(margin / (1 - margin))
	for _, gamma := range []float32{0, .01, 1, 4} {
		for _, distance := range []float64{-1e4, -10, -1e-3, -1e-15, 0, 1e-15, 1e-3, 10, 1e4} {
			var d decision
			d.focused(pooledLogit(edge+distance), 0, AsymmetricLoss{Negative: gamma, Margin: margin})
			loss := d.loss.total()
			if distance < -1e-9 && (loss != 0 || d.dLogit != 0) || distance > 1e-9 && !(loss > 0 && d.dLogit > 0) ||
				!(loss >= 0 && d.dLogit >= 0) {
				t.Errorf("exponent %g, %g from the margin: loss %g, gradient %g", gamma, distance, loss, d.dLogit)
			}
		}
	}
}

func TestNoiseStep_RefusesFocusOutOfRangeOrBehindANoiseModel(t *testing.T) {
	in := drawStep(t, 43, 2, 3, 4)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, f := range []AsymmetricLoss{{Positive: -1}, {Negative: -.5}, {Negative: inf}, {Positive: nan}, {Margin: 1},
		{Margin: -.1}, {Margin: nan}} {
		out := in.newOutput(t)
		out.DO = nil
		if err := newTestCPU(t, 1).NoiseStep(out, in.logits, nil, in.labels, nil, StepParams{Asymmetric: f}); !errors.Is(err,
			ErrAsymmetric) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	err := newTestCPU(t, 1).NoiseStep(in.newOutput(t), in.logits, in.confidence, in.labels, nil,
		StepParams{Asymmetric: AsymmetricLoss{Negative: 2}})
	if !errors.Is(err, ErrAsymmetric) {
		t.Errorf("with a noise model: %v", err)
	}
}

// Unknown labels change nothing, and only the mark itself means unknown.
func TestNoiseStep_UnknownLabels(t *testing.T) {
	in := drawStep(t, 47, 3, 4, 5)
	for _, mil := range []bool{true, false} {
		for _, f := range []AsymmetricLoss{{}, {Negative: 4, Margin: .05}} {
			p := StepParams{MIL: mil, Scale: 1, Asymmetric: f}
			out := in.newOutput(t)
			out.DO = nil
			labels := optest.Floats(t, nil, 3, 5)
			for i := range labels.Float32s() {
				labels.Float32s()[i] = Unknown
			}
			optest.Must(t, newTestCPU(t, 1).NoiseStep(out, in.logits, nil, labels, nil, p))
			for i, d := range out.DLogits.Float32s() {
				if d != 0 {
					t.Fatalf("gradient of logit %d is %g", i, d)
				}
			}
			for bag, loss := range out.Loss.Float32s() {
				if loss != 0 {
					t.Errorf("loss of bag %d is %g", bag, loss)
				}
			}
			equal(t, StepOutput{Posterior: out.Posterior}, StepOutput{Posterior: out.Prob})
		}
	}
	for _, z := range []float32{-.5, -2, 1.5, float32(math.NaN())} {
		in.labels.Float32s()[3] = z
		if err := newTestCPU(t, 1).NoiseStep(StepOutput{Loss: optest.Floats(t, nil, 3)}, in.logits, nil, in.labels, nil,
			StepParams{}); !errors.Is(err, ErrLabel) {
			t.Errorf("label %g: %v", z, err)
		}
	}
	in.labels.Float32s()[3] = .5
	if err := newTestCPU(t, 1).NoiseStep(StepOutput{Loss: optest.Floats(t, nil, 3)}, in.logits, in.confidence, in.labels,
		nil, StepParams{}); !errors.Is(err, ErrLabel) {
		t.Errorf("half a label with a noise model: %v", err)
	}
}

// With a noise model too, unknown labels change nothing, and known labels next to them are learned as usual.
func TestNoiseStep_UnknownLabelsWithANoiseModel(t *testing.T) {
	in := drawStep(t, 48, 3, 4, 5)
	p, c := StepParams{MIL: true, Scale: 1}, newTestCPU(t, 1)
	all, some := in.newOutput(t), in.newOutput(t)
	optest.Must(t, c.NoiseStep(all, in.logits, in.confidence, in.labels, nil, p))
	for i, z := range in.labels.Float32s() {
		if i%2 == 0 {
			z = Unknown
		}
		in.labels.Float32s()[i] = z
	}
	optest.Must(t, c.NoiseStep(some, in.logits, in.confidence, in.labels, nil, p))
	for i, z := range in.labels.Float32s() {
		want := all.Posterior.Float32s()[i]
		if z == Unknown {
			want = all.Prob.Float32s()[i]
		}
		if got := some.Posterior.Float32s()[i]; got != want {
			t.Errorf("posterior %d is %g, want %g", i, got, want)
		}
	}
	k := 5
	for i, d := range some.DLogits.Float32s() {
		bag, class := i/(4*k), i%k
		want := all.DLogits.Float32s()[i]
		if in.labels.Float32s()[bag*k+class] == Unknown {
			want = 0
		}
		if d != want {
			t.Errorf("gradient of logit %d is %g, want %g", i, d, want)
		}
	}
	for i, d := range some.DO.Float32s() {
		if bag, class := i/(4*k), i%k; in.labels.Float32s()[bag*k+class] == Unknown && d != 0 {
			t.Errorf("gradient of confidence %d is %g", i, d)
		}
	}
	equal(t, StepOutput{Prob: some.Prob, Observed: some.Observed}, StepOutput{Prob: all.Prob, Observed: all.Observed})
}

// A NaN must be seen whatever is learned of its class, so that it stops the run.
func TestNoiseStep_NaNLogitSurfacesUnderAnyLossAndLabel(t *testing.T) {
	nan := float32(math.NaN())
	for _, mil := range []bool{true, false} {
		for _, f := range []AsymmetricLoss{{}, {Negative: 4, Margin: .05}, {Positive: 1, Negative: 2}} {
			for _, z := range []float32{Unknown, 0, .5, 1} {
				loss, d := optest.Floats(t, make([]float32, 1), 1), optest.Floats(t, make([]float32, 2), 1, 2, 1, 1)
				out, logits := StepOutput{Loss: loss, DLogits: d}, optest.Floats(t, []float32{1, nan}, 1, 2, 1, 1)
				optest.Must(t, newTestCPU(t, 1).NoiseStep(out, logits, nil, optest.Floats(t, []float32{z}, 1, 1), nil,
					StepParams{MIL: mil, Scale: 1, Asymmetric: f}))
				if !math.IsNaN(float64(loss.Float32s()[0])) || !math.IsNaN(float64(d.Float32s()[0])) {
					t.Errorf("mil %t, %+v, label %g: loss %g, gradient %g", mil, f, z, loss.Float32s()[0], d.Float32s()[0])
				}
			}
		}
	}
}

func TestLargeLosses_NaNIsNeverTakenAndZerosAreEqual(t *testing.T) {
	nan, zero := float32(math.NaN()), float32(math.Copysign(0, -1))
	o := []float32{nan, zero, 0, -nan, zero, float32(math.Inf(1)), float32(math.Inf(-1)), -1}
	order := []int{5, 1, 2, 4, 7, 6}
	for count := range len(o) + 2 {
		targets, z := optest.Floats(t, nil, 2, 4), optest.Floats(t, make([]float32, len(o)), 2, 4)
		optest.Must(t, newTestCPU(t, 1).LargeLosses(targets, optest.Floats(t, o, 2, 4), z, optest.Ints(t, int32(count)), 1))
		want := make([]float32, len(o))
		for _, i := range order[:min(count, len(order))] {
			want[i] = 1
		}
		if got := targets.Float32s(); !slices.Equal(got, want) {
			t.Errorf("%d of %g: %g, want %g", count, o, got, want)
		}
	}
}

// targets may be the labels' memory, and labels that are none are refused before anything is written.
func TestLargeLosses_InPlace(t *testing.T) {
	stream := rng.New(59)
	o := optest.Normal(t, &stream, 2, 3, 70)
	z, apart := optest.Floats(t, make([]float32, 210), 3, 70), optest.Floats(t, nil, 3, 70)
	c := newTestCPU(t, 1)
	optest.Must(t, c.LargeLosses(apart, o, z, optest.Ints(t, 11), Unknown))
	optest.Must(t, c.LargeLosses(z, o, z, optest.Ints(t, 11), Unknown))
	equal(t, StepOutput{Prob: z}, StepOutput{Prob: apart})
	z.Float32s()[100] = 2
	before := slices.Clone(z.Float32s())
	if err := c.LargeLosses(z, o, z, optest.Ints(t, 11), 1); !errors.Is(err, ErrLabel) ||
		!slices.Equal(z.Float32s(), before) {
		t.Errorf("a label of 2: %v", err)
	}
}
