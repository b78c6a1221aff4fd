//go:build cuda

package kernels_test

import (
	"slices"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// tinyStep is a convolution whose outputs are logits, with loss, gradient and update.
type tinyStep struct {
	b                                kernels.Backend
	x, w, logits, labels, loss, d, g *tensor.Tensor
	moment, norm                     *tensor.Tensor
}

func newTinyStep(t *testing.T, b kernels.Backend) *tinyStep {
	t.Helper()
	s := &tinyStep{b: b}
	for _, p := range []struct {
		at    **tensor.Tensor
		shape []int
		draw  func(r *rng.Stream) float32
	}{
		{&s.x, []int{3, 4, 4, 4}, func(r *rng.Stream) float32 { return float32(r.Normal(0, 1)) }},
		{&s.w, []int{6, 3, 3, 4}, func(r *rng.Stream) float32 { return float32(r.Normal(0, .1)) }},
		{&s.labels, []int{3, 6}, func(r *rng.Stream) float32 { return float32(r.Intn(2)) }},
		{&s.logits, []int{3, 4, 4, 6}, nil}, {&s.d, []int{3, 4, 4, 6}, nil}, {&s.loss, []int{3}, nil},
		{&s.g, []int{6, 3, 3, 4}, nil}, {&s.moment, []int{6, 3, 3, 4}, nil}, {&s.norm, []int{1}, nil},
	} {
		var err error
		if *p.at, err = b.Alloc(tensor.Float32, p.shape...); err != nil {
			t.Fatal(err)
		}
		if p.draw == nil {
			continue
		}
		stream, data := rng.New(11), make([]float32, (*p.at).Len())
		for i := range data {
			data[i] = p.draw(&stream)
		}
		expect.OK(t, b.Upload(*p.at, dense.New(dense.WithShape(len(data)), dense.WithBacking(data))))
	}
	return s
}

func (s *tinyStep) entries(rate float32) []update.Entry {
	return []update.Entry{{W: s.w, G: s.g, M: s.moment, LR: rate}}
}

func (s *tinyStep) run(rate float32) error {
	for _, call := range []func() error{
		func() error { return s.b.Conv(s.logits, s.x, s.w, nil, conv.Params{Pad: 1}) },
		func() error {
			return s.b.NoiseStep(noise.StepOutput{Loss: s.loss, DLogits: s.d}, s.logits, nil, s.labels, nil,
				noise.StepParams{MIL: true, Scale: 1})
		},
		func() error { return s.b.ConvGradFilter(s.g, s.x, s.d, conv.Params{Pad: 1}) },
		func() error { return s.b.GradNorm(s.norm, s.entries(rate)) },
		func() error { return s.b.Clip(s.entries(rate), s.norm, 1) },
		func() error { return s.b.SGD(s.entries(rate), 0.9) },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// A step that was captured once and is replayed, with rates that change from step to step, gives the
// weights of steps that are run one by one, bit for bit.
func TestCUDA_ReplaysACapturedStep(t *testing.T) {
	rates := []float32{0.1, 0.2, 0.05, 0.3}
	direct, captured := newTinyStep(t, openCard(t)), newTinyStep(t, openCard(t))
	for _, rate := range rates {
		expect.OK(t, direct.run(rate))
	}
	card, ok := captured.b.(kernels.Card)
	if !ok {
		t.Fatalf("%s captures no graphs", captured.b.Name())
	}
	if err := captured.run(rates[0]); err != nil { // plans and workspaces are found outside of a capture
		t.Fatal(err)
	}
	graph, err := card.Capture("step", func() error { return captured.run(rates[0]) })
	expect.OK(t, err)
	for _, rate := range rates[1:] {
		expect.OK(t, card.PrepareUpdate(captured.entries(rate), update.AdamParams{}))
		expect.OK(t, graph.Launch())
	}
	if err := graph.Close(); err != nil {
		t.Error(err)
	}
	if got, want := downloaded(t, captured.b, captured.w), downloaded(t, direct.b, direct.w); !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got[:6], want[:6])
	}
}

func downloaded(t *testing.T, b kernels.Backend, x *tensor.Tensor) []float32 {
	t.Helper()
	data := make([]float32, x.Len())
	expect.OK(t, b.Download(dense.New(dense.WithShape(len(data)), dense.WithBacking(data)), x))
	return data
}
