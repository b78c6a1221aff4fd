package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/tools/conform"
)

// smallResNet is a residual net with both kinds of shortcut and odd sizes.
func smallResNet(kind Residual, noise NoiseMode) Config {
	c := Config{Classes: 5, Size: 33, Width: 27, Residual: kind, Depths: []int{1, 2, 1}, Widths: []int{4, 6, 5}, MIL: true,
		Noise: noise, NoisePool: "mean", Mean: [3]float32{120, 110, 100}, Scale: [3]float32{.02, .02, .02}}
	if kind == Bottleneck {
		c.Depths, c.Widths = []int{2, 1, 1}, []int{4, 3, 4}
	}
	return c
}

// unsettled draws the last convolutions of the blocks too, which are 0 at the start.
func unsettled(t *testing.T, n *Net) *Net {
	t.Helper()
	for i, u := range n.units {
		if u.Shortcut == 0 {
			continue
		}
		values := make([]float32, u.w.FileLen())
		for j := range values {
			values[j] = float32(math.Sin(float64(i+7*j))) / 4
		}
		expect.OK(t, n.SetValues(u.w, values))
	}
	return n
}

func openTensors(t testing.TB, path string) *safetensors.File {
	t.Helper()
	f, err := safetensors.Open(path)
	expect.OK(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func tensorOf(t testing.TB, f *safetensors.File, name string) conform.Array {
	t.Helper()
	values, shape, err := f.Float32(name)
	expect.OK(t, err)
	a := conform.Array{Name: name, Shape: shape}
	for _, v := range values {
		a.Data = append(a.Data, float64(v))
	}
	return a
}

// Nets of torchvision's blocks, whose batch normalisation is folded as their weights are read, give PyTorch's outputs
// and the gradients of its automatic differentiation.
func TestResNet_IsThatOfPyTorch(t *testing.T) {
	for _, kind := range []Residual{Basic, Bottleneck} {
		path := "testdata/resnet_" + string(kind)
		expected := openTensors(t, path+"_expected.safetensors")
		for group, change := range map[string]func(*Config){
			"mean": func(c *Config) { c.MIL, c.Noise = false, NoNoise },
			"mil":  func(c *Config) { c.Noise = NoNoise },
			"fd":   func(*Config) {},
		} {
			t.Run(string(kind)+" "+group, func(t *testing.T) {
				device := conform.OpenDevice(t, 2)
				c := smallResNet(kind, FeatureDependent)
				change(&c)
				n := newNet(t, device, c)
				report, err := n.Load(openTensors(t, path+".safetensors"), func(p *Param) bool {
					return strings.HasPrefix(p.Name, "nmn.")
				})
				if err != nil || !report.Folded || len(report.Unused) > 0 {
					t.Fatalf("%+v, %v", report, err)
				}
				for _, p := range []*Param{n.noise.w, n.noise.b} {
					if p == nil {
						continue
					}
					values, _, err := expected.Float32(p.Name)
					if err == nil {
						err = n.SetValues(p, values)
					}
					expect.OK(t, err)
				}
				x, z := tensorOf(t, expected, "x"), tensorOf(t, expected, "z")
				p := plan(t, n, x.Shape[0], x.Shape[0])
				conform.Put(t, device, p.X, x.NHWC().Float32s())
				conform.Put(t, device, p.Labels, z.Float32s())
				step(t, n, p, StepOptions{Scale: 1 / float32(p.Bags)})
				same := func(name string, got []float32, want conform.Array) {
					if err := close32(got, want.Float32s(), 5e-5); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				same("features", values(t, n, p.Features), tensorOf(t, expected, "features").NHWC())
				same("logits", values(t, n, p.Logits), tensorOf(t, expected, "logits").NHWC())
				same("loss", []float32{float32(lossOf(t, n, p)) / float32(p.Bags)}, tensorOf(t, expected, group+".loss"))
				for _, p := range n.Params() {
					want := tensorOf(t, expected, group+"."+p.File)
					if p.CHW && p != n.noise.w && len(want.Shape) == 4 {
						want = want.NHWC() // filters are K×C×R×S there, and K×R×S×C here
					}
					same("gradient of "+p.Name, values(t, n, p.G), want)
				}
			})
		}
	}
}

// Published counts: torchvision's, less the parameters of batch normalisation beyond one bias for each
// channel.
func TestResNet_HasTorchvisionsNamesAndTheKnownSizes(t *testing.T) {
	for name, want := range map[string]struct {
		parameters int // torchvision's, with gain and shift of each channel
		gflop      float64
	}{
		"resnet18": {11689512, 3.628}, "resnet34": {21797672, 7.328}, "resnet50": {25557032, 8.178},
		"resnet101": {44549160, 15.603},
	} {
		c, err := ResNet(name, 1000, false)
		expect.OK(t, err)
		channels, flop := 0, 0.0
		for _, node := range c.Backbone() {
			if node.Kind == Convolution {
				channels += node.C
			}
		}
		for _, l := range c.Layers() {
			flop += l.ForwardFLOP / 1e9
		}
		flop -= 48 * 2 * 1000 * float64(c.FeatureWidth()) / 1e9 // the linear layer is on 49 cells here
		if got, _ := c.Parameters(); got != want.parameters-channels || math.Abs(flop-want.gflop) > .002 {
			t.Errorf("%s: %d parameters and %.3f GFLOP, want %d and %.3f", name, got, flop, want.parameters-channels, want.gflop)
		}
		if h, w := c.Grid(); h != 7 || w != 7 || c.ResNetName() != name {
			t.Errorf("%s: a grid of %d×%d, named %q", name, h, w, c.ResNetName())
		}
	}
	c, _ := ResNet("resnet50", 4, true)
	if h, _ := c.Grid(); h != 14 {
		t.Errorf("with instances the grid has %d rows", h)
	}
	var names []string
	for _, node := range c.Backbone() {
		if node.Kind == Convolution && (strings.HasPrefix(node.Name, "layer2.0") || node.Name == "conv1") {
			names = append(names, fmt.Sprintf("%s/%d", node.File, node.Stride))
		}
	}
	want := []string{"conv1/2", "layer2.0.conv1/1", "layer2.0.conv2/2", "layer2.0.downsample.0/2", "layer2.0.conv3/1"}
	if !slices.Equal(names, want) {
		t.Errorf("layers and strides %v, want %v", names, want)
	}
	expect.Refusal(t, expect.ErrorOf(smallResNet(Basic, NoNoise).LayerWidth(FC7)), "pool5")
	expect.Refusal(t, expect.ErrorOf(ResNet("resnet51", 4, false)), "resnet50")
}

// Without normalisation a net of any depth starts with outputs and gradients of the scale of its input.
func TestResNet_StartsAtTheScaleOfItsInput(t *testing.T) {
	for _, name := range []string{"resnet18", "resnet50"} {
		c, _ := ResNet(name, 5, true)
		c = c.Narrow(.125)
		c.Size = 64
		n := newNet(t, conform.OpenCPU(t, 2), c)
		p := plan(t, n, 4, 4)
		fill(t, n, p, 0)
		step(t, n, p, StepOptions{Scale: .25})
		square := 0.0
		features := values(t, n, p.Features)
		for _, v := range features {
			square += float64(v) * float64(v) / float64(len(features))
		}
		if !(square > .01 && square < 100) {
			t.Errorf("%s: features of a mean square of %g", name, square)
		}
		for _, u := range n.units {
			if u.Shortcut == 0 {
				continue
			}
			learns := slices.ContainsFunc(values(t, n, u.w.G), func(v float32) bool { return v != 0 })
			if zero := !slices.ContainsFunc(values(t, n, u.w.W), func(v float32) bool { return v != 0 }); !zero || !learns {
				t.Errorf("%s: %s starts at 0: %t, learns: %t", name, u.Name, zero, learns)
			}
		}
	}
}
