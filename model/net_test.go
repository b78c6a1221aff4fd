package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

func openCPU(t testing.TB, threads int) kernels.Backend {
	t.Helper()
	backend, err := kernels.OpenCPU(kernels.CPUConfig{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	return backend
}

// small is a net with every kind of layer, two convolutions in a block and odd sizes.
func small(noise NoiseMode) Config {
	return Config{Classes: 5, Size: 21, Depths: []int{2, 1}, Widths: []int{4, 6}, LastPool: true,
		FC6: 8, FC7: 7, FC6Kernel: 3, Dropout: .3, MIL: true, Noise: noise, NoisePool: "mean",
		Mean: [3]float32{120, 110, 100}, Scale: [3]float32{.02, .02, .02}}
}

func newNet(t testing.TB, backend kernels.Backend, c Config) *Net {
	t.Helper()
	n, err := New(c, backend)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	init := InitConfig{Seed: 3, ClassifierDeviation: .3, ClassifierBias: []float32{-.5}, NoiseDeviation: .1,
		Q01: []float32{.3}, Q10: []float32{.1}}
	if err := n.Init(init); err != nil {
		t.Fatal(err)
	}
	return n
}

// fill uploads a random batch whose frames depend on first+t alone.
func fill(t testing.TB, n *Net, p *Plan, first int) {
	t.Helper()
	b := n.backend
	s := rng.New(11, first)
	pixels := make([]uint8, p.Pixels.Len())
	frame := len(pixels) / p.Frames
	keys, sizes, flips := make([]int32, p.Frames), make([]int32, 2*p.Frames), make([]uint8, p.Frames)
	labels := make([]float32, p.Labels.Len())
	for f := range p.Frames {
		s = rng.New(11, first+f)
		for i := range frame {
			pixels[f*frame+i] = uint8(s.Intn(256))
		}
		keys[f], flips[f] = int32(first+f), uint8(s.Intn(2))
		sizes[2*f], sizes[2*f+1] = int32(n.config.Size), int32(n.config.width()-s.Intn(3))
		if p.Bags == p.Frames {
			for k := range n.config.Classes {
				labels[f*n.config.Classes+k] = float32(s.Intn(2))
			}
		}
	}
	offsets := make([]int32, p.Bags+1)
	for i := range offsets {
		offsets[i] = int32(i * p.Frames / p.Bags)
	}
	for _, u := range []struct {
		to   *tensor.Tensor
		from any
	}{{p.Pixels, pixels}, {p.Keys, keys}, {p.Sizes, sizes}, {p.Flips, flips}, {p.Labels, labels},
		{p.Offsets, offsets}} {
		if err := b.Upload(u.to, dense.New(dense.WithShape(u.to.Len()), dense.WithBacking(u.from))); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Normalize(p); err != nil {
		t.Fatal(err)
	}
}

func plan(t testing.TB, n *Net, frames, bags int) *Plan {
	t.Helper()
	p, err := n.Plan(frames, bags, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func step(t testing.TB, n *Net, p *Plan, o StepOptions) {
	t.Helper()
	if err := n.Step(p, o); err != nil {
		t.Fatal(err)
	}
}

func gradients(t testing.TB, n *Net) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	for _, p := range n.all {
		if p.G == nil {
			continue
		}
		g, err := n.download(p.G)
		if err != nil {
			t.Fatal(err)
		}
		all[p.Name] = g
	}
	return all
}

// close32 compares by the largest difference relative to the largest value; NaN fails.
func close32(got, want []float32, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	var worst, scale float64
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			return fmt.Errorf("element %d: %v, want %v", i, got[i], want[i])
		}
		worst, scale = max(worst, d), max(scale, math.Abs(float64(want[i])))
	}
	if !(worst <= tolerance*max(scale, 1e-12)) {
		return fmt.Errorf("differs by %.3g at a scale of %.3g", worst, scale)
	}
	return nil
}

func TestStep_GradientsOfTwoHalvesAccumulateToTheWhole(t *testing.T) {
	for _, noise := range []NoiseMode{NoNoise, FeatureIndependent, FeatureDependent} {
		t.Run(string(noise), func(t *testing.T) {
			n := newNet(t, openCPU(t, 2), small(noise))
			o := StepOptions{Scale: .25, DropoutSeed: 9}
			p := plan(t, n, 4, 4)
			fill(t, n, p, 0)
			step(t, n, p, o)
			whole := gradients(t, n)
			half := plan(t, n, 2, 2)
			fill(t, n, half, 0)
			step(t, n, half, o)
			fill(t, n, half, 2)
			o.Accumulate = true
			step(t, n, half, o)
			for name, g := range gradients(t, n) {
				if err := close32(g, whole[name], 2e-5); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func TestStep_GradientsDoNotDependOnThreads(t *testing.T) {
	var first map[string][]float32
	for _, threads := range []int{1, 2, 5} {
		n := newNet(t, openCPU(t, threads), small(FeatureDependent))
		p := plan(t, n, 6, 2)
		fill(t, n, p, 0)
		step(t, n, p, StepOptions{Scale: .5, DropoutSeed: 9})
		g := gradients(t, n)
		if first == nil {
			first = g
			continue
		}
		for name := range g {
			if !slices.Equal(g[name], first[name]) {
				t.Errorf("%d threads: gradient of %s differs from that of one thread", threads, name)
			}
		}
	}
}

func TestFreeze_LeavesOtherGradientsAsTheyWere(t *testing.T) {
	n := newNet(t, openCPU(t, 1), small(FeatureDependent))
	p := plan(t, n, 2, 2)
	fill(t, n, p, 0)
	o := StepOptions{Scale: 1, DropoutSeed: 9}
	step(t, n, p, o)
	all := gradients(t, n)
	for _, prefix := range []string{"backbone.conv1", "backbone.", "head.fc6", "head.", "nmn.", "nmn.weight"} {
		if err := n.Freeze(func(p *Param) bool { return strings.HasPrefix(p.Name, prefix) }); err != nil {
			t.Fatal(err)
		}
		step(t, n, p, o)
		some := gradients(t, n)
		for _, param := range n.Params() {
			if frozen := strings.HasPrefix(param.Name, prefix); frozen != (some[param.Name] == nil) {
				t.Errorf("frozen %s*: %s has a gradient: %v", prefix, param.Name, some[param.Name] != nil)
			}
		}
		for name, g := range some {
			if !slices.Equal(g, all[name]) {
				t.Errorf("frozen %s*: the gradient of %s changed", prefix, name)
			}
		}
	}
}

// The directional derivative of the loss along the gradient equals its squared norm. Dropout stays
// on: the masks are functions of the seed.
func TestStep_GradientIsTheSlopeOfTheLoss(t *testing.T) {
	for _, variant := range []struct {
		name   string
		change func(*Config)
	}{
		{"mil fd", func(*Config) {}},
		{"no mil", func(c *Config) { c.MIL = false }},
		{"fi", func(c *Config) { c.Noise = FeatureIndependent }},
		{"max features", func(c *Config) { c.NoisePool = "max" }},
		{"no last pool", func(c *Config) { c.LastPool = false }},
		{"no last pool, no noise", func(c *Config) { c.LastPool, c.Noise = false, NoNoise }},
		{"padded fc6", func(c *Config) { c.FC6Pad = 1 }},
	} {
		t.Run(variant.name, func(t *testing.T) {
			c := small(FeatureDependent)
			variant.change(&c)
			n := newNet(t, openCPU(t, 2), c)
			p := plan(t, n, 4, 2)
			fill(t, n, p, 0)
			o := StepOptions{Scale: 1, DropoutSeed: 9}
			step(t, n, p, o)
			isSlope(t, n, p, o, n.all)
		})
	}
}

// isSlope demands that along the gradient of some parameters, which the last step has computed, the loss
// rises by the gradient's squared norm.
func isSlope(t *testing.T, n *Net, p *Plan, o StepOptions, params []*Param) {
	t.Helper()
	g, start, norm := gradients(t, n), map[*Param][]float32{}, 0.0
	for _, param := range params {
		var err error
		if start[param], err = n.Values(param); err != nil {
			t.Fatal(err)
		}
		for _, v := range g[param.Name] {
			norm += float64(v) * float64(v)
		}
	}
	at := func(distance float64) float64 {
		for _, param := range params {
			moved := slices.Clone(start[param])
			for i, v := range g[param.Name] {
				moved[i] += float32(distance * float64(v))
			}
			if err := n.SetValues(param, moved); err != nil {
				t.Fatal(err)
			}
		}
		step(t, n, p, o)
		return lossOf(t, n, p)
	}
	h := 2e-3 / math.Sqrt(norm)
	if slope := (at(h) - at(-h)) / (2 * h); !(math.Abs(slope-norm) <= .02*norm) {
		t.Errorf("slope along the gradient %.5g, squared norm of the gradient %.5g", slope, norm)
	}
}

// lossOf sums the losses of the last step's bags.
func lossOf(t testing.TB, n *Net, p *Plan) float64 {
	t.Helper()
	losses, err := n.download(p.Loss)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, l := range losses {
		sum += float64(l)
	}
	return sum
}

func TestStep_AllocatesNothing(t *testing.T) {
	n := newNet(t, openCPU(t, 2), small(FeatureDependent))
	p := plan(t, n, 4, 4)
	fill(t, n, p, 0)
	run := func() {
		p, err := n.Plan(4, 4, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Normalize(p); err != nil {
			t.Fatal(err)
		}
		step(t, n, p, StepOptions{Scale: .25, DropoutSeed: 9})
	}
	run()
	if allocations := testing.AllocsPerRun(20, run); allocations != 0 {
		t.Errorf("a step allocates %v times", allocations)
	}
}

func TestPlan_GrowsAndKeepsResults(t *testing.T) {
	n := newNet(t, openCPU(t, 1), small(FeatureIndependent))
	scores := func(frames int) []float32 {
		p, err := n.Plan(frames, frames, false)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, n, p, 0)
		if err := n.Forward(p, true); err != nil {
			t.Fatal(err)
		}
		values, err := n.download(p.Prob)
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	two := scores(2)
	four := scores(4)
	if !slices.Equal(two, four[:len(two)]) || !slices.Equal(two, scores(2)) {
		t.Error("the scores of a picture depend on the size of its batch")
	}
	if _, err := n.Plan(1, 2, false); err == nil {
		t.Error("a plan with fewer frames than bags is accepted")
	}
}

func TestForward_ProbabilitiesFollowTheNoiseModel(t *testing.T) {
	n := newNet(t, openCPU(t, 1), small(FeatureIndependent))
	p := plan(t, n, 3, 3)
	fill(t, n, p, 0)
	if err := n.Forward(p, true); err != nil {
		t.Fatal(err)
	}
	prob, _ := n.download(p.Prob)
	observed, _ := n.download(p.Observed)
	loss, _ := n.download(p.Loss)
	labels, _ := n.download(p.Labels)
	want := make([]float64, 3)
	for i := range prob {
		q := .1*(1-float64(prob[i])) + .7*float64(prob[i])
		if math.Abs(q-float64(observed[i])) > 1e-6 {
			t.Fatalf("p(z=1) is %v for p(y=1) = %v and rates .3 and .1, want %v", observed[i], prob[i], q)
		}
		z := float64(labels[i])
		want[i/5] -= z*math.Log(q) + (1-z)*math.Log(1-q)
	}
	for i := range want {
		if math.Abs(want[i]-float64(loss[i])) > 1e-5 {
			t.Errorf("loss of bag %d is %v, want %v", i, loss[i], want[i])
		}
	}
}

func TestRates_UndoInit(t *testing.T) {
	n := newNet(t, openCPU(t, 1), small(FeatureIndependent))
	miss, wrong := []float32{0, .1, .5, .9, 1}, []float32{.2, .3, .01, .0001, .6}
	if err := n.Init(InitConfig{ClassifierBias: []float32{0}, Q01: miss, Q10: wrong}); err != nil {
		t.Fatal(err)
	}
	o, err := n.Values(n.noise.b)
	if err != nil {
		t.Fatal(err)
	}
	gotMiss, gotWrong := make([]float32, 5), make([]float32, 5)
	NoiseRates(gotMiss, gotWrong, o)
	for k := range miss {
		if math.Abs(float64(gotMiss[k]-miss[k])) > 1.01e-4 || math.Abs(float64(gotWrong[k]-wrong[k])) > 1e-6 {
			t.Errorf("class %d: rates %v, %v come back as %v, %v", k, miss[k], wrong[k], gotMiss[k], gotWrong[k])
		}
	}
	for _, bad := range [][]float32{{.1, .2}, {-.1}, {1.1}, {float32(math.NaN())}} {
		if n.Init(InitConfig{ClassifierBias: []float32{0}, Q01: bad, Q10: wrong}) == nil {
			t.Errorf("miss rates %v are accepted", bad)
		}
	}
}

// saved is the weight file of a net.
func saved(t *testing.T, n *Net) *safetensors.File {
	t.Helper()
	var file bytes.Buffer
	if err := safetensors.Write(&file, nil, n.Weights()); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWeights_RoundTripThroughAFile(t *testing.T) {
	backend := openCPU(t, 1)
	n := newNet(t, backend, small(FeatureDependent))
	f := saved(t, n)
	other, err := New(small(FeatureDependent), backend)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	report, err := other.Load(f, nil)
	if err != nil || len(report.Missing)+len(report.Unused) > 0 {
		t.Fatalf("loading gave %+v, %v", report, err)
	}
	for i, p := range n.all {
		want, _ := n.Values(p)
		got, _ := other.Values(other.all[i])
		if !slices.Equal(got, want) {
			t.Errorf("%s changed on its way through a file", p.Name)
		}
	}
	// The file has filters as K, C, R, S.
	w := n.units[1].w
	inFile, shape, err := f.Float32("features.2.weight")
	if err != nil || !slices.Equal(shape, []int{4, 4, 3, 3}) {
		t.Fatalf("features.2.weight: %v, %v", shape, err)
	}
	values, _ := n.Values(w)
	if got, want := inFile[((1*4+2)*3+0)*3+1], values[((1*3+0)*3+1)*4+2]; got != want {
		t.Errorf("element [1][2][0][1] of the file is %v, want %v of the device", got, want)
	}
}

func TestLoad_RefusesAnotherModel(t *testing.T) {
	backend := openCPU(t, 1)
	n := newNet(t, backend, small(NoNoise))
	file := func(net *Net, edit func([]safetensors.Tensor) []safetensors.Tensor) *safetensors.File {
		var b bytes.Buffer
		if err := safetensors.Write(&b, nil, edit(net.Weights())); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	same := func(w []safetensors.Tensor) []safetensors.Tensor { return w }
	more := small(NoNoise)
	more.Classes = 6
	if _, err := n.Load(file(newNet(t, backend, more), same), nil); !errors.Is(err, ErrOtherModel) ||
		!strings.Contains(err.Error(), "classifier.6.weight") {
		t.Errorf("six classes into five: %v", err)
	}
	if _, err := n.Load(file(n, func(w []safetensors.Tensor) []safetensors.Tensor { return w[1:] }),
		nil); !errors.Is(err, ErrOtherModel) {
		t.Errorf("a missing parameter: %v", err)
	}
	noisy := newNet(t, backend, small(FeatureDependent))
	report, err := noisy.Load(file(n, same), func(p *Param) bool { return strings.HasPrefix(p.Name, "nmn.") })
	if err != nil || len(report.Missing) != 2 || report.Missing[0].Param != "nmn.weight" ||
		report.Missing[1].Param != "nmn.bias" {
		t.Errorf("a classifier into a net with a noise model: %+v, %v", report, err)
	}
	broken := file(n, func(w []safetensors.Tensor) []safetensors.Tensor {
		w[1] = safetensors.Tensor{Name: w[1].Name, Shape: w[1].Shape, Data: []float32{1, 2, float32(math.NaN()), 4}}
		return w
	})
	if _, err := n.Load(broken, nil); err == nil || !strings.Contains(err.Error(), "features.0.bias") {
		t.Errorf("NaN in a weight: %v", err)
	}
}

func TestVGG16_HasTorchvisionsNamesAndTheKnownSize(t *testing.T) {
	c := VGG16(1000, false)
	classifier, noise := c.Parameters()
	if classifier != 138357544 || noise != 0 {
		t.Errorf("VGG16 has %d and %d parameters, want 138357544 as published, and none", classifier, noise)
	}
	if h, w := VGG16(1000, true).Grid(); h != 12 || w != 12 {
		t.Errorf("565 pixels give a grid of %d×%d, want 12×12", h, w)
	}
	if c.Instances() != 1 {
		t.Errorf("224 pixels give %d instances, want 1", c.Instances())
	}
	n := newNet(t, openCPU(t, 1), func() Config { c := c.Narrow(.01); c.Classes = 10; return c }())
	var names []string
	for _, p := range n.Params() {
		if !p.Bias {
			names = append(names, p.File)
		}
	}
	want := "features.0 features.2 features.5 features.7 features.10 features.12 features.14 features.17 features.19 " +
		"features.21 features.24 features.26 features.28 classifier.0 classifier.3 classifier.6"
	if got := strings.ReplaceAll(strings.Join(names, " "), ".weight", ""); got != want {
		t.Errorf("names in files:\n%s\nwant\n%s", got, want)
	}
}

func TestConfig_ValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*Config){
		"classes":    func(c *Config) { c.Classes = 0 },
		"depths":     func(c *Config) { c.Depths = nil },
		"widths[1]":  func(c *Config) { c.Widths[1] = -1 },
		"dropout":    func(c *Config) { c.Dropout = math.NaN() },
		"fc6-pad":    func(c *Config) { c.FC6Pad = 3 },
		"noise":      func(c *Config) { c.Noise = "maybe" },
		"noise-pool": func(c *Config) { c.NoisePool = "median" },
		"fc6-kernel": func(c *Config) { c.Size = 4 },
	} {
		c := small(NoNoise)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("a bad %s gives %v", field, err)
		}
	}
	for _, c := range []Config{small(NoNoise), VGG16(1000, true), Scenes(36, true), Scenes(36, false)} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}
