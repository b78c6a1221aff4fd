package model

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// rounding is by how much of itself a number may be off in a precision.
var rounding = map[tensor.Precision]float64{tensor.TF32: 0x1p-10, tensor.BF16: 0x1p-8}

// near bounds the relative norm of the error of a value: rounding, times the layers that it went through.
func near(t *testing.T, what string, p tensor.Precision, off float64) {
	t.Helper()
	if most := 8 * rounding[p]; !(off <= most) {
		t.Errorf("%s in %s: off by %.2g, at most %.2g", what, p, off, most)
	}
}

// nearGradient limits the error of a gradient. A ReLU or a maximum decides otherwise for a share of cells
// that is about the rounding. The gradients of those cells go elsewhere. As a norm that is the root of the
// share.
func nearGradient(t *testing.T, what string, p tensor.Precision, off float64) {
	t.Helper()
	if most := 2 * math.Sqrt(rounding[p]); !(off <= most) {
		t.Errorf("gradient of %s in %s: off by %.2g, at most %.2g", what, p, off, most)
	}
}

// distance is the norm of the difference divided by the norm of want.
func distance[T float32 | float64](got []float32, want []T) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	off, norm := 0.0, 0.0
	for i, v := range want {
		d := float64(got[i]) - float64(v)
		off, norm = off+d*d, norm+float64(v)*float64(v)
	}
	return math.Sqrt(off / norm)
}

func eachReduced(t *testing.T, run func(t *testing.T, p tensor.Precision)) {
	t.Helper()
	for _, p := range []tensor.Precision{tensor.TF32, tensor.BF16} {
		t.Run(string(p), func(t *testing.T) { run(t, p) })
	}
}

// parameterGradients are the gradients without the channels that files lack.
func parameterGradients(t testing.TB, n *Net) map[string][]float32 {
	t.Helper()
	all := gradients(t, n)
	for _, p := range n.all {
		if g, ok := all[p.Name]; ok {
			for cell := range len(g) / p.W.Dim(-1) {
				for c := channelsHeld(p); c < p.W.Dim(-1); c++ {
					if v := g[cell*p.W.Dim(-1)+c]; v != 0 {
						t.Fatalf("%s: a channel that no picture has got the gradient %v", p.Name, v)
					}
				}
			}
			all[p.Name] = p.Stripped(g)
		}
	}
	return all
}

// channelsHeld are the input channels of a filter that files hold. For a bias they are all elements.
func channelsHeld(p *Param) int {
	if p.W.Rank() != 4 {
		return p.W.Dim(-1)
	}
	return p.Channels()
}

func TestTinyNet_StepInTF32AndBF16(t *testing.T) {
	eachReduced(t, func(t *testing.T, precision tensor.Precision) {
		params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net")
		device := conform.OpenDeviceIn(t, 2, precision)
		n, p := tinyOn(t, device, params, params.Input("x"), params.Input("z"), func(*Config) {})
		step(t, n, p, StepOptions{Scale: 1 / float32(p.Bags)})
		for name, got := range map[string]*tensor.Tensor{"pool": p.Features, "o": p.Logits, "g": p.Pooled, "p": p.Prob,
			"rho1": p.Posterior, "p_obs": p.Observed} {
			off := distance(conform.Download(t, device, got), f.Expected(name).NHWC().Data)
			near(t, name, precision, off)
			if off < rounding[precision]/64 {
				t.Errorf("%s is off by %.2g alone: nothing was rounded to %s", name, off, precision)
			}
		}
		all := parameterGradients(t, n)
		for _, name := range f.Group("expected.grads") {
			if name == "x" {
				continue
			}
			nearGradient(t, name, precision,
				distance(all[conform.ParamName(name)], f.Parameter("expected.grads", name).Data))
		}
		if p.Features.DType() != precision.Formats().Maps || p.Logits.DType() != tensor.Float32 ||
			p.Pooled.DType() != tensor.Float32 {
			t.Errorf("features are %s, logits %s, pooled features %s", p.Features, p.Logits, p.Pooled)
		}
	})
}

// aligned is a net whose channels are multiples of 8 as in real networks, except for the classes.
func aligned(mil bool, pool string) Config {
	return Config{Classes: 5, Size: 21, Depths: []int{2, 1}, Widths: []int{8, 16}, LastPool: true,
		FC6: 24, FC7: 16, FC6Kernel: 3, Dropout: .3, MIL: mil, Noise: FeatureDependent, NoisePool: pool,
		Mean: [3]float32{120, 110, 100}, Scale: [3]float32{.02, .02, .02}}
}

// All gradients of a whole net against those in float32 on the same device, with dropout and bags of
// several frames. The bounds hold for this draw of pixels: in others a ReLU or a cell of a max pool lies so near to its
// edge that rounding moves it, and a gradient of few channels is off by more.
func TestTinyNet_GradientsInTF32AndBF16AreThoseInFP32(t *testing.T) {
	eachReduced(t, func(t *testing.T, precision tensor.Precision) {
		for _, pool := range []string{"mean", "max"} {
			for _, mil := range []bool{false, true} {
				t.Run(fmt.Sprintf("pool=%s,mil=%t", pool, mil), func(t *testing.T) {
					run := func(p tensor.Precision) (map[string][]float32, []float32) {
						n := newNet(t, conform.OpenDeviceIn(t, 2, p), aligned(mil, pool))
						batch := plan(t, n, 6, 3)
						fill(t, n, batch, 4)
						step(t, n, batch, StepOptions{Scale: 1. / 3, DropoutSeed: 5})
						step(t, n, batch, StepOptions{Scale: 1. / 3, DropoutSeed: 6, Accumulate: true})
						return parameterGradients(t, n), conform.Download(t, n.backend, batch.Loss)
					}
					got, loss := run(precision)
					want, wantLoss := run(tensor.FP32)
					near(t, "loss", precision, distance(loss, wantLoss))
					for name := range want {
						nearGradient(t, name, precision, distance(got[name], want[name]))
					}
				})
			}
		}
	})
}

// Every way to set a parameter reaches its copy, and a file holds the parameter, not the copy.
func TestTinyNet_CopiesInBF16FollowTheWeights(t *testing.T) {
	device := conform.OpenDeviceIn(t, 2, tensor.BF16)
	n := newNet(t, device, aligned(true, "mean"))
	followed := func(when string) {
		t.Helper()
		for _, p := range n.all {
			if noise := p == n.noise.w || p == n.noise.b; noise == (p.Copy != nil) {
				t.Fatalf("%s has the copy %s", p.Name, p.Copy)
			}
			if p.Copy == nil {
				continue
			}
			want := conform.Download(t, device, p.W)
			half := make([]uint16, len(want))
			tensor.RoundBFloat16(half, want)
			tensor.WidenBFloat16(want, half)
			if !slices.Equal(conform.Download(t, device, p.Copy), want) {
				t.Errorf("%s: the copy of %s is another one", when, p.Name)
			}
		}
	}
	followed("after Init")
	first := n.all[0]
	values, err := n.Values(first)
	if err != nil || len(values) != 8*3*3*3 || first.W.Dim(3) != 8 {
		t.Fatalf("%s has %d values in %s, %v", first.Name, len(values), first.W, err)
	}
	values[0], values[26], values[27] = 1.001, -2.003, 3.007
	expect.OK(t, n.SetValues(first, values))
	followed("after SetValues")
	for i, v := range conform.Download(t, device, first.W) {
		if i%8 >= 3 && v != 0 {
			t.Fatalf("element %d of %s is %v in a channel that no picture has", i, first.Name, v)
		}
	}
	f := saved(t, n)
	reloaded := newNet(t, conform.OpenDeviceIn(t, 2, tensor.FP32), aligned(true, "mean"))
	expect.OK(t, expect.ErrorOf(reloaded.Load(f, nil)))
	for i, p := range reloaded.all {
		want, _ := n.Values(n.all[i])
		if got, err := reloaded.Values(p); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is another one after a file: %v", p.Name, err)
		}
	}
	expect.OK(t, n.Init(InitConfig{Seed: 9, ClassifierBias: []float32{0}, Q01: []float32{.3},
		Q10: []float32{.1}}))
	expect.OK(t, expect.ErrorOf(n.Load(f, nil)))
	followed("after Load")
}

// biased is a device that notes the rounded bias of each convolution.
type biased struct {
	kernels.Backend
	rounded map[*tensor.Tensor]*tensor.Tensor
}

func (b biased) Conv(y, x, w, bias *tensor.Tensor, p conv.Params) error {
	b.rounded[bias] = p.RoundedBias
	return b.Backend.Conv(y, x, w, bias, p)
}

// A card gets every bias rounded too, so that it need not round them in every step.
func TestTinyNet_ConvolutionsGetRoundedBiases(t *testing.T) {
	device := biased{conform.OpenDeviceIn(t, 2, tensor.BF16), map[*tensor.Tensor]*tensor.Tensor{}}
	n := newNet(t, device, aligned(true, "mean"))
	batch := plan(t, n, 6, 3)
	fill(t, n, batch, 0)
	step(t, n, batch, StepOptions{Scale: 1. / 3, DropoutSeed: 5})
	for _, p := range n.all {
		if rounded, used := device.rounded[p.W]; p.Bias && (!used || rounded != p.Copy) {
			t.Errorf("%s: the convolution got %s, the copy is %s", p.Name, rounded, p.Copy)
		}
	}
}

// counted is a device that only counts memory, as one of a precision would have it.
type counted struct {
	kernels.Backend
	precision tensor.Precision
}

func (c counted) Precision() tensor.Precision { return c.precision }

func (c counted) Formats() tensor.Formats { return c.precision.Formats() }

func (c counted) Alloc(dtype tensor.DType, shape ...int) (*tensor.Tensor, error) {
	return tensor.OfAddress(256, dtype, shape...)
}

// In bfloat16, feature maps and their gradients take half of the memory. Float32 values keep their size, and
// filters and biases have copies.
func TestBytes_TellTheTruthInBF16(t *testing.T) {
	bytes := func(p tensor.Precision) (params, buffers int) {
		n, err := New(VGG16(20, true), counted{conform.OpenCPU(t, 1), p})
		expect.OK(t, err)
		expect.OK(t, expect.ErrorOf(n.Plan(4, 2, true)))
		if n.Bytes() != n.params.Bytes()+n.grads.Bytes()+n.buffers.Bytes() {
			t.Errorf("%d bytes in all", n.Bytes())
		}
		return n.params.Bytes(), n.buffers.Bytes()
	}
	params, buffers := bytes(tensor.FP32)
	halfParams, halfBuffers := bytes(tensor.BF16)
	n, err := New(VGG16(20, true), counted{conform.OpenCPU(t, 1), tensor.FP32})
	expect.OK(t, err)
	copied := 0
	for _, p := range n.all {
		copied += p.W.Len()
	}
	const frames, pixels, padding = 4, 565 * 565, 64 * 9 * 5 // conv1_1 has 8 channels instead of 3
	l, err := n.layout(frames, true)
	expect.OK(t, err)
	if want := buffers - 2*l.size - frames*pixels*(3*4-8*2); halfBuffers != want {
		t.Errorf("buffers have %d bytes, want %d; %d in float32", halfBuffers, want, buffers)
	}
	if want := params + 2*(copied+padding) + 4*padding; halfParams != want {
		t.Errorf("parameters have %d bytes, want %d; %d in float32", halfParams, want, params)
	}
	if share := float64(halfBuffers) / float64(buffers); share > .51 {
		t.Errorf("a plan takes %.2f of its memory in float32", share)
	}
}
