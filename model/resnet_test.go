package model

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
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
		if err := n.SetValues(u.w, values); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func openTensors(t testing.TB, path string) *safetensors.File {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func tensorOf(t testing.TB, f *safetensors.File, name string) conform.Array {
	t.Helper()
	values, shape, err := f.Float32(name)
	if err != nil {
		t.Fatal(err)
	}
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
					if err != nil {
						t.Fatal(err)
					}
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
					g, err := n.download(p.G)
					if err != nil {
						t.Fatal(err)
					}
					want := tensorOf(t, expected, group+"."+p.File)
					if p.CHW && p != n.noise.w && len(want.Shape) == 4 {
						want = want.NHWC() // filters are K×C×R×S there, and K×R×S×C here
					}
					same("gradient of "+p.Name, g, want)
				}
			})
		}
	}
}

func TestResNet_GradientIsTheSlopeOfTheLoss(t *testing.T) {
	for _, kind := range []Residual{Basic, Bottleneck} {
		for _, noise := range []NoiseMode{NoNoise, FeatureIndependent, FeatureDependent} {
			for _, chunk := range []int{0, 4} {
				n := unsettled(t, newNet(t, openCPU(t, 2), smallResNet(kind, noise)))
				p := inChunks(t, n, chunk)
				o := StepOptions{Scale: 1}
				step(t, n, p, o)
				isSlope(t, n, p, o, n.all)
			}
		}
	}
}

// Whatever is frozen, each learning parameter gets the gradient that it gets when all learn. Gradients are
// reported in order.
func TestResNet_FreezeLeavesOtherGradientsAsTheyWere(t *testing.T) {
	for _, kind := range []Residual{Basic, Bottleneck} {
		for _, chunk := range []int{0, 4} {
			n := unsettled(t, newNet(t, openCPU(t, 1), smallResNet(kind, FeatureDependent)))
			p, o := inChunks(t, n, chunk), StepOptions{Scale: 1}
			step(t, n, p, o)
			all := gradients(t, n)
			for name, frozen := range map[string]func(string) bool{
				"stem": func(name string) bool { return strings.HasPrefix(name, "backbone.conv1") },
				"first stages": func(name string) bool {
					return !strings.Contains(name, "layer3") && !strings.HasPrefix(name, "h")
				},
				"all stages":            func(name string) bool { return strings.HasPrefix(name, "backbone.") },
				"but one shortcut":      func(name string) bool { return !strings.Contains(name, "layer2.0.downsample") },
				"but the weight inside": func(name string) bool { return !strings.Contains(name, "layer2.0.conv2.weight") },
				"biases":                func(name string) bool { return strings.HasSuffix(name, "bias") },
				"weights":               func(name string) bool { return strings.HasSuffix(name, "weight") },
			} {
				if err := n.Freeze(func(p *Param) bool { return frozen(p.Name) }); err != nil {
					t.Fatal(err)
				}
				checkDone(t, n, p)
				o := StepOptions{Scale: 1}
				step(t, n, p, o)
				some := gradients(t, n)
				for _, param := range n.Params() {
					if frozen(param.Name) != (some[param.Name] == nil) {
						t.Errorf("%s rests: %s has a gradient: %t", name, param.Name, some[param.Name] != nil)
					}
				}
				for param, g := range some {
					if !slices.Equal(g, all[param]) {
						t.Errorf("%s rests: the gradient of %s changed", name, param)
					}
				}
			}
		}
	}
}

func TestResNet_PartsAndChunksAreTheWhole(t *testing.T) {
	for _, kind := range []Residual{Basic, Bottleneck} {
		n := unsettled(t, newNet(t, openCPU(t, 2), smallResNet(kind, FeatureDependent)))
		p, o := inChunks(t, n, 0), StepOptions{Scale: .5}
		step(t, n, p, o)
		whole := gradients(t, n)
		for _, chunk := range []int{0, 1, 5} {
			p := inChunks(t, n, chunk)
			step(t, n, p, o)
			got := gradients(t, n)
			for name, g := range got {
				if err := close32(g, whole[name], 5e-6); err != nil {
					t.Errorf("chunks of %d: %s: %v", chunk, name, err)
				}
			}
			for _, part := range []StepPart{UpperPart, LowerPart} {
				step(t, n, p, StepOptions{Scale: .5, Part: part})
			}
			if !reflect.DeepEqual(gradients(t, n), got) {
				t.Errorf("chunks of %d: the parts make other gradients", chunk)
			}
		}
	}
}

func TestResNet_StepAllocatesNothingAndFollowsNoThreads(t *testing.T) {
	for _, kind := range []Residual{Basic, Bottleneck} {
		var first map[string][]float32
		for _, threads := range []int{1, 2, 5} {
			n := unsettled(t, newNet(t, openCPU(t, threads), smallResNet(kind, FeatureDependent)))
			p := plan(t, n, 6, 2)
			fill(t, n, p, 0)
			run := func() { step(t, n, p, StepOptions{Scale: .5}) }
			run()
			g := gradients(t, n)
			if first == nil {
				first = g
			}
			if !reflect.DeepEqual(g, first) {
				t.Errorf("%s: %d threads make other gradients", kind, threads)
			}
			if allocations := testing.AllocsPerRun(5, run); allocations != 0 {
				t.Errorf("%s: a step allocates %v times", kind, allocations)
			}
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
		if err != nil {
			t.Fatal(err)
		}
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
	if _, err := ResNet("resnet51", 4, false); err == nil || !strings.Contains(err.Error(), "resnet50") {
		t.Errorf("an unknown net gives %v", err)
	}
}

// Without normalisation a net of any depth starts with outputs and gradients of the scale of its input.
func TestResNet_StartsAtTheScaleOfItsInput(t *testing.T) {
	for _, name := range []string{"resnet18", "resnet50"} {
		c, _ := ResNet(name, 5, true)
		c = c.Narrow(.125)
		c.Size = 64
		n := newNet(t, openCPU(t, 2), c)
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

func TestResNet_ValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*Config){
		"residual":  func(c *Config) { c.Residual = "dense" },
		"fc6":       func(c *Config) { c.FC6 = 8 },
		"dropout":   func(c *Config) { c.Dropout = .5 },
		"last_pool": func(c *Config) { c.LastPool = true },
		"widths[1]": func(c *Config) { c.Widths[1] = 0 },
		"features":  func(c *Config) { c.Input = 8 },
	} {
		c := smallResNet(Basic, NoNoise)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("a bad %s gives %v", field, err)
		}
	}
	if _, err := smallResNet(Basic, NoNoise).LayerWidth(FC7); err == nil || !strings.Contains(err.Error(), "pool5") {
		t.Errorf("fc7 of a residual net gives %v", err)
	}
}

func TestResNet_ItsOwnFilesAreFoldedAlready(t *testing.T) {
	device := openCPU(t, 1)
	n := unsettled(t, newNet(t, device, smallResNet(Bottleneck, FeatureDependent)))
	f := saved(t, n)
	other := newNet(t, device, smallResNet(Bottleneck, FeatureDependent))
	report, err := other.Load(f, nil)
	if err != nil || report.Folded || len(report.Missing)+len(report.Unused) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	for i, p := range n.all {
		if !slices.Equal(values(t, n, p.W), values(t, other, other.all[i].W)) {
			t.Errorf("%s changed on its way", p.Name)
		}
	}
	if errors.Is(err, ErrOtherModel) {
		t.Error(err)
	}
}
