package model

import (
	"errors"
	"math"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/tools/conform"
)

// wide is a net on pictures whose layers have enough weights to measure their deviation.
func wide() Config {
	c := small(FeatureDependent)
	c.Depths, c.Widths, c.FC6, c.FC7, c.Classes = []int{2}, []int{24}, 32, 48, 40
	return c
}

// Weights before a ReLU start with He et al.'s deviation, sqrt(2/n) for n inputs of a unit, in nets on
// pictures. In nets on features they start with the deviation of PyTorch's Linear, sqrt(1/(3n)). The last
// layer starts as configured.
func TestInit_DeviationsOfLayers(t *testing.T) {
	he := func(inputs float64) float64 { return math.Sqrt(2 / inputs) }
	linear := func(inputs float64) float64 { return math.Sqrt(1 / (3 * inputs)) }
	const last, noise = .3, .1 // of newNet
	for name, c := range map[string]struct {
		config Config
		want   map[string]float64
	}{
		"pictures": {wide(), map[string]float64{
			"backbone.conv1_1.weight": he(3 * 3 * 3), "backbone.conv1_2.weight": he(3 * 3 * 24),
			"head.fc6.weight": he(3 * 3 * 24), "head.fc7.weight": he(32), "head.fc8.weight": last, "nmn.weight": noise,
		}},
		"features": {MLP(60, 50, []int{80, 40}), map[string]float64{
			"head.fc1.weight": linear(60), "head.fc2.weight": linear(80), "head.fc3.weight": last,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNet(t, conform.OpenCPU(t, 1), c.config)
			for _, p := range n.Params() {
				if p.Bias {
					continue
				}
				want, ok := c.want[p.Name]
				if !ok {
					t.Fatalf("no deviation is listed for %s", p.Name)
				}
				squares, weights := 0.0, values(t, n, p.W)
				for _, v := range weights {
					squares += float64(v) * float64(v)
				}
				got := math.Sqrt(squares / float64(len(weights)))
				if near := 4 / math.Sqrt(2*float64(len(weights))); math.Abs(got/want-1) > near {
					t.Errorf("%s starts with the deviation %.4f, want %.4f", p.Name, got, want)
				}
			}
		})
	}
}

// A standard with a number that is none would make every score NaN.
func TestLoad_RefusesADamagedStandard(t *testing.T) {
	c := MLP(3, 2, []int{4})
	c.Standardised = true
	backend := conform.OpenCPU(t, 1)
	for name, damage := range map[string]struct{ mean, scale []float32 }{
		"element 1 of input.mean is NaN":   {[]float32{1, float32(math.NaN()), 3}, []float32{4, 5, 6}},
		"element 0 of input.mean is +Inf":  {[]float32{float32(math.Inf(1)), 2, 3}, []float32{4, 5, 6}},
		"element 2 of input.scale is NaN":  {[]float32{1, 2, 3}, []float32{4, 5, float32(math.NaN())}},
		"element 2 of input.scale is -Inf": {[]float32{1, 2, 3}, []float32{4, 5, float32(math.Inf(-1))}},
	} {
		n := newNet(t, backend, c)
		expect.OK(t, n.SetStandard(damage.mean, damage.scale))
		_, err := newNet(t, backend, c).Load(saved(t, n), nil)
		if err == nil || !strings.Contains(err.Error(), name) || errors.Is(err, ErrOtherModel) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

// A file of another net's features is refused before anything of it is shown to this one.
func TestLoad_RefusesAStandardOfOtherFeatures(t *testing.T) {
	c := MLP(3, 2, []int{4})
	c.Standardised = true
	n := newNet(t, conform.OpenCPU(t, 1), c)
	expect.OK(t, n.SetStandard([]float32{1, 2, 3}, []float32{4, 5, 6}))
	for want, change := range map[string]func(x safetensors.Tensor) (safetensors.Tensor, bool){
		"input.mean is [4] in the file": func(x safetensors.Tensor) (safetensors.Tensor, bool) {
			if x.Name == meanName {
				x.Shape, x.Data = []int{4}, []float32{1, 2, 3, 4}
			}
			return x, true
		},
		"the file has no input.scale": func(x safetensors.Tensor) (safetensors.Tensor, bool) {
			return x, x.Name != scaleName
		},
	} {
		var tensors []safetensors.Tensor
		for _, x := range n.Weights() {
			if x, keep := change(x); keep {
				tensors = append(tensors, x)
			}
		}
		expect.Refusal(t, expect.ErrorOf(n.Load(fileOf(t, tensors), nil)), want, ErrOtherModel)
	}
}
