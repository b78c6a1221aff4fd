package model

import (
	"fmt"
	"math"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/noise"
	"nmn/tools/conform"
)

// A loss that shifts little with the weights keeps its choice of labels, so that its gradient is a slope.
func TestStep_GradientOfOtherLossesIsTheirSlope(t *testing.T) {
	for name, change := range map[string]func(*StepOptions){
		"asymmetric": func(o *StepOptions) { o.Asymmetric = noise.AsymmetricLoss{Positive: 1, Negative: 2, Margin: .05} },
		"rejected":   func(o *StepOptions) { o.LargeLosses = LargeLosses{RejectLarge, 4} },
		"corrected":  func(o *StepOptions) { o.LargeLosses = LargeLosses{CorrectLarge, 4} },
	} {
		t.Run(name, func(t *testing.T) {
			n := newNet(t, conform.OpenCPU(t, 2), small(NoNoise))
			p, o := fillClips(t, n), StepOptions{Scale: 1, DropoutSeed: 9}
			step(t, n, p, o)
			plain := lossOf(t, n, p)
			change(&o)
			step(t, n, p, o)
			if loss := lossOf(t, n, p); loss == plain {
				t.Errorf("the loss is %g, as the cross-entropy", loss)
			}
			isSlope(t, n, p, o, n.all)
		})
	}
}

// A step through large losses is one on the labels that it makes, whose count may change from step to step.
func TestStep_LargeLossesAreOtherLabels(t *testing.T) {
	for _, o := range []LargeLosses{{RejectLarge, 0}, {RejectLarge, 6}, {CorrectLarge, 2}, {CorrectLarge, 100}} {
		n := newNet(t, conform.OpenCPU(t, 2), small(NoNoise))
		p := fillClips(t, n)
		zeros := 0
		for _, z := range values(t, n, p.Labels) {
			if z == 0 {
				zeros++
			}
		}
		step(t, n, p, StepOptions{Scale: 1, DropoutSeed: 9, LargeLosses: LargeLosses{o.Treatment, 1}})
		step(t, n, p, StepOptions{Scale: 1, DropoutSeed: 9, LargeLosses: o})
		loss, got, targets := lossOf(t, n, p), gradients(t, n), values(t, n, p.targets)
		changed := 0
		for i, z := range values(t, n, p.Labels) {
			if targets[i] != z {
				changed++
			}
		}
		if changed != min(o.Count, zeros) {
			t.Errorf("%+v: %d of %d labels 0 are others", o, changed, zeros)
		}
		put(t, n, p.Labels, targets)
		step(t, n, p, StepOptions{Scale: 1, DropoutSeed: 9})
		if want := lossOf(t, n, p); math.Abs(loss-want) > 1e-9*want {
			t.Errorf("%+v: loss %g, on its labels %g", o, loss, want)
		}
		sameGradients(t, fmt.Sprint(o), got, gradients(t, n), 1e-9)
	}
}

func TestStep_RefusesOtherLossesThroughANoiseModel(t *testing.T) {
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureIndependent))
	p := fillClips(t, n)
	err := n.Step(p, StepOptions{Scale: 1, LargeLosses: LargeLosses{RejectLarge, 1}})
	expect.Refusal(t, err, "without a noise model")
	if err := n.Step(p, StepOptions{Scale: 1, Asymmetric: noise.AsymmetricLoss{Negative: 1}}); err == nil {
		t.Error("the asymmetric loss is accepted")
	}
	step(t, n, p, StepOptions{Scale: 1, LargeLosses: LargeLosses{RejectLarge, 1}, WithoutNoise: true})
}
