package noise

import (
	"errors"
	"math"
	"testing"

	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/tools/optest"
)

// exclusiveInput is a batch of bags of several instances, a transition matrix, and one label of each bag.
type exclusiveInput struct {
	stepInput
	transition *tensor.Tensor
}

func drawExclusive(t testing.TB, bags, cells, classes int) exclusiveInput {
	in := exclusiveInput{stepInput: drawStep(t, 7, bags, cells, classes),
		transition: optest.Floats(t, nil, classes, classes)}
	stream := rng.New(8)
	clear(in.labels.Float32s())
	for bag := range bags {
		in.labels.Float32s()[bag*classes+stream.Intn(classes)] = 1
	}
	for y := range classes {
		for z := range classes {
			in.transition.Float32s()[y*classes+z] = .4 / float32(classes-1)
		}
		in.transition.Float32s()[y*classes+y] = .6
	}
	return in
}

func (in exclusiveInput) run(t testing.TB, threads int, transition *tensor.Tensor) StepOutput {
	t.Helper()
	out := in.newOutput(t)
	out.DO = nil
	if err := newTestCPU(t, threads).NoiseStep(out, in.logits, transition, in.labels, nil,
		StepParams{Exclusive: true, Scale: .5}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestExclusive_AnUnknownLabelTeachesNothing(t *testing.T) {
	in := drawExclusive(t, 2, 1, 6)
	for k := range 6 {
		in.labels.Float32s()[k] = Unknown
	}
	out := in.run(t, 1, in.transition)
	for k, d := range out.DLogits.Float32s()[:6] {
		if d != 0 || out.Posterior.Float32s()[k] != out.Prob.Float32s()[k] {
			t.Errorf("class %d: gradient %v, posterior %v, p %v", k, d, out.Posterior.Float32s()[k], out.Prob.Float32s()[k])
		}
	}
	if out.Loss.Float32s()[0] != 0 || out.Loss.Float32s()[1] == 0 {
		t.Errorf("losses %v", out.Loss.Float32s())
	}
}

func TestExclusive_NaNStaysInItsBag(t *testing.T) {
	in := drawExclusive(t, 2, 1, 5)
	in.logits.Float32s()[3] = float32(math.NaN())
	out := in.run(t, 1, nil)
	if loss := out.Loss.Float32s(); loss[0] == loss[0] || loss[1] != loss[1] {
		t.Errorf("losses %v", loss)
	}
	for k, p := range out.Prob.Float32s() {
		if (p != p) != (k < 5) {
			t.Errorf("probability %d: %v", k, p)
		}
	}
}

func TestExclusive_WhatDoesNotFitIsRefused(t *testing.T) {
	in := drawExclusive(t, 2, 1, 4)
	p := StepParams{Exclusive: true, Scale: 1}
	with := func(change func(*StepParams)) StepParams { q := p; change(&q); return q }
	for name, refused := range map[string]struct {
		p   StepParams
		out StepOutput
	}{
		"noisy-or": {p: with(func(q *StepParams) { q.MIL = true })},
		"evidence": {p: with(func(q *StepParams) { q.Evidence = true })},
		"weights":  {p: with(func(q *StepParams) { q.Asymmetric.Negative = 2 })},
		"gradient": {p: p, out: StepOutput{DO: optest.Floats(t, nil, 2, 2, 2, 4)}},
	} {
		if err := newTestCPU(t, 1).NoiseStep(refused.out, in.logits, nil, in.labels, nil,
			refused.p); !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
