package model

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"

	dense "gorgonia.org/tensor"
)

// small is a net with every kind of layer, two convolutions in a block and odd sizes.
func small(noise NoiseMode) Config {
	return Config{Classes: 5, Size: 21, Depths: []int{2, 1}, Widths: []int{4, 6}, LastPool: true,
		FC6: 8, FC7: 7, FC6Kernel: 3, Dropout: .3, MIL: true, Noise: noise, NoisePool: "mean",
		Mean: [3]float32{120, 110, 100}, Scale: [3]float32{.02, .02, .02}}
}

func newNet(t testing.TB, backend kernels.Backend, c Config) *Net {
	t.Helper()
	n, err := New(c, backend)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, n.Close()) })
	init := InitConfig{Seed: 3, ClassifierDeviation: .3, ClassifierBias: []float32{-.5}, NoiseDeviation: .1,
		Q01: []float32{.3}, Q10: []float32{.1}}
	expect.OK(t, n.Init(init))
	return n
}

// put uploads numbers.
func put(t testing.TB, n *Net, to *tensor.Tensor, from any) {
	t.Helper()
	expect.OK(t, n.backend.Upload(to, dense.New(dense.WithShape(to.Len()), dense.WithBacking(from))))
}

func values(t testing.TB, n *Net, from *tensor.Tensor) []float32 {
	t.Helper()
	v, err := n.download(from)
	expect.OK(t, err)
	return v
}

// fill uploads a random batch of bags of equally many frames. Frame t depends on first+t alone, and so do the
// labels of bag t.
func fill(t testing.TB, n *Net, p *Plan, first int) {
	t.Helper()
	keys, labels, offsets := make([]int32, p.Frames), []float32{}, []int32{0}
	pixels, sizes, flips, x := []uint8{}, []int32{}, []uint8{}, []float32{}
	for f := range p.Frames {
		s := rng.New(11, first+f)
		keys[f] = int32(first + f)
		for range n.config.Input {
			x = append(x, float32(s.Normal(0, 1)))
		}
		if n.config.Input > 0 {
			continue
		}
		for range p.Pixels.Len() / p.Frames {
			pixels = append(pixels, uint8(s.Intn(256)))
		}
		flips = append(flips, uint8(s.Intn(2)))
		sizes = append(sizes, int32(n.config.Size), int32(n.config.width()-s.Intn(3)))
	}
	for bag := range p.Bags {
		s := rng.New(12, first+bag)
		for range n.config.Classes {
			labels = append(labels, float32(s.Intn(2)))
		}
		offsets = append(offsets, int32((bag+1)*p.Frames/p.Bags))
	}
	put(t, n, p.Keys, keys)
	put(t, n, p.Labels, labels)
	put(t, n, p.Offsets, offsets)
	if n.config.Input > 0 {
		put(t, n, p.X, x)
	} else {
		put(t, n, p.Pixels, pixels)
		put(t, n, p.Sizes, sizes)
		put(t, n, p.Flips, flips)
	}
	expect.OK(t, n.Normalize(p))
}

func plan(t testing.TB, n *Net, frames, bags int) *Plan {
	t.Helper()
	p, err := n.Plan(frames, bags, true)
	expect.OK(t, err)
	return p
}

func step(t testing.TB, n *Net, p *Plan, o StepOptions) {
	t.Helper()
	expect.OK(t, n.Step(p, o))
}

func gradients(t testing.TB, n *Net) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	for _, p := range n.all {
		if p.G == nil {
			continue
		}
		all[p.Name] = values(t, n, p.G)
	}
	return all
}

// sameGradients compares by the largest difference relative to the largest value of each.
func sameGradients(t testing.TB, what string, got, want map[string][]float32, tolerance float64) {
	t.Helper()
	for name, g := range got {
		if err := close32(g, want[name], tolerance); err != nil {
			t.Errorf("%s: %s: %v", what, name, err)
		}
	}
}

// nets have every kind of layer and of block.
func nets() map[string]Config {
	features := MLP(6, 3, []int{16, 8})
	features.Noise = FeatureDependent
	return map[string]Config{"vgg": small(FeatureDependent), "features": features,
		"basic": smallResNet(Basic, FeatureDependent), "bottleneck": smallResNet(Bottleneck, FeatureDependent)}
}

// inWholeAndChunks runs a test of each net with whole batches and with chunks.
func inWholeAndChunks(t *testing.T, configs map[string]Config, test func(t *testing.T, c Config, chunk int)) {
	t.Helper()
	for name, c := range configs {
		for _, chunk := range []int{0, 4} {
			t.Run(fmt.Sprintf("%s, chunks of %d", name, chunk), func(t *testing.T) { test(t, c, chunk) })
		}
	}
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
			n := newNet(t, conform.OpenCPU(t, 2), small(noise))
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
			sameGradients(t, "two halves", gradients(t, n), whole, 2e-5)
		})
	}
}

func TestStep_AllocatesNothingAndFollowsNoThreads(t *testing.T) {
	inWholeAndChunks(t, nets(), func(t *testing.T, c Config, chunk int) {
		var first map[string][]float32
		for _, threads := range []int{1, 2, 5} {
			n := unsettled(t, newNet(t, conform.OpenCPU(t, threads), c))
			p := inChunks(t, n, chunk)
			run := func() {
				p, err := n.Plan(p.Frames, p.Bags, true)
				expect.OK(t, err)
				expect.OK(t, n.Normalize(p))
				step(t, n, p, StepOptions{Scale: .5, DropoutSeed: 9})
			}
			run()
			g := gradients(t, n)
			if first == nil {
				first = g
			}
			if !reflect.DeepEqual(g, first) {
				t.Errorf("%d threads make other gradients", threads)
			}
			if allocations := testing.AllocsPerRun(10, run); allocations != 0 {
				t.Errorf("%d threads: a step allocates %v times", threads, allocations)
			}
		}
	})
}

// The directional derivative of the loss along the gradient equals its squared norm. Dropout stays
// on: the masks are functions of the seed.
func TestStep_GradientIsTheSlopeOfTheLoss(t *testing.T) {
	configs := nets()
	for name, change := range map[string]func(*Config){
		"no mil":                 func(c *Config) { c.MIL = false },
		"fi":                     func(c *Config) { c.Noise = FeatureIndependent },
		"max features":           func(c *Config) { c.NoisePool = "max" },
		"no last pool":           func(c *Config) { c.LastPool = false },
		"no last pool, no noise": func(c *Config) { c.LastPool, c.Noise = false, NoNoise },
		"padded fc6":             func(c *Config) { c.FC6Pad = 1 },
		"basic, fi":              func(c *Config) { *c = smallResNet(Basic, FeatureIndependent) },
		"basic, no noise":        func(c *Config) { *c = smallResNet(Basic, NoNoise) },
		"bottleneck, fi":         func(c *Config) { *c = smallResNet(Bottleneck, FeatureIndependent) },
		"bottleneck, no noise":   func(c *Config) { *c = smallResNet(Bottleneck, NoNoise) },
	} {
		c := small(FeatureDependent)
		change(&c)
		configs[name] = c
	}
	inWholeAndChunks(t, configs, func(t *testing.T, c Config, chunk int) {
		n := unsettled(t, newNet(t, conform.OpenCPU(t, 2), c))
		p, o := inChunks(t, n, chunk), StepOptions{Scale: 1, DropoutSeed: 4}
		step(t, n, p, o)
		other := lossOf(t, n, p)
		o.DropoutSeed = 9
		step(t, n, p, o)
		if c.Dropout > 0 && lossOf(t, n, p) == other {
			t.Error("another seed gives the same masks")
		}
		isSlope(t, n, p, o, n.all)
	})
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
			expect.OK(t, n.SetValues(param, moved))
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
	sum := 0.0
	for _, l := range values(t, n, p.Loss) {
		sum += float64(l)
	}
	return sum
}

func TestPlan_GrowsAndKeepsResults(t *testing.T) {
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureIndependent))
	scores := func(frames int) []float32 {
		p, err := n.Plan(frames, frames, false)
		expect.OK(t, err)
		fill(t, n, p, 0)
		expect.OK(t, n.Forward(p, true))
		return values(t, n, p.Prob)
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
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureIndependent))
	p := plan(t, n, 3, 3)
	fill(t, n, p, 0)
	expect.OK(t, n.Forward(p, true))
	prob, observed := values(t, n, p.Prob), values(t, n, p.Observed)
	loss, labels := values(t, n, p.Loss), values(t, n, p.Labels)
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
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureIndependent))
	miss, wrong := []float32{0, .1, .5, .9, 1}, []float32{.2, .3, .01, .0001, .6}
	expect.OK(t, n.Init(InitConfig{ClassifierBias: []float32{0}, Q01: miss, Q10: wrong}))
	o, err := n.Values(n.noise.b)
	expect.OK(t, err)
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

// saved is the weight file of a net, after edits.
func saved(t testing.TB, n *Net, edits ...func([]safetensors.Tensor) []safetensors.Tensor) *safetensors.File {
	t.Helper()
	list := n.Weights()
	for _, edit := range edits {
		list = edit(list)
	}
	return fileOf(t, list)
}

func fileOf(t testing.TB, list []safetensors.Tensor) *safetensors.File {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, safetensors.Write(&b, nil, list))
	f, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	expect.OK(t, err)
	return f
}

func TestWeights_RoundTripThroughAFile(t *testing.T) {
	backend := conform.OpenCPU(t, 1)
	for name, c := range nets() {
		n, other := unsettled(t, newNet(t, backend, c)), newNet(t, backend, c)
		report, err := other.Load(saved(t, n), nil)
		if err != nil || report.Folded || len(report.Missing)+len(report.Unused) > 0 {
			t.Fatalf("%s: loading gave %+v, %v", name, report, err)
		}
		for i, p := range n.all {
			if !slices.Equal(values(t, n, p.W), values(t, other, other.all[i].W)) {
				t.Errorf("%s: %s changed on its way through a file", name, p.Name)
			}
		}
	}
	n := newNet(t, backend, small(FeatureDependent))
	f := saved(t, n)
	// The file has filters as K, C, R, S.
	w := n.units[1].w
	inFile, shape, err := f.Float32("features.2.weight")
	if err != nil || !slices.Equal(shape, []int{4, 4, 3, 3}) {
		t.Fatalf("features.2.weight: %v, %v", shape, err)
	}
	if got, want := inFile[((1*4+2)*3+0)*3+1], values(t, n, w.W)[((1*3+0)*3+1)*4+2]; got != want {
		t.Errorf("element [1][2][0][1] of the file is %v, want %v of the device", got, want)
	}
}

func TestLoad_RefusesAnotherModel(t *testing.T) {
	backend := conform.OpenCPU(t, 1)
	n := newNet(t, backend, small(NoNoise))
	more := small(NoNoise)
	more.Classes = 6
	expect.Refusal(t, expect.ErrorOf(n.Load(saved(t, newNet(t, backend, more)), nil)), "classifier.6.weight",
		ErrOtherModel)
	rest := func(w []safetensors.Tensor) []safetensors.Tensor { return w[1:] }
	expect.Refusal(t, expect.ErrorOf(n.Load(saved(t, n, rest), nil)), "", ErrOtherModel)
	noisy := newNet(t, backend, small(FeatureDependent))
	report, err := noisy.Load(saved(t, n), func(p *Param) bool { return strings.HasPrefix(p.Name, "nmn.") })
	if err != nil || len(report.Missing) != 2 || report.Missing[0].Param != "nmn.weight" ||
		report.Missing[1].Param != "nmn.bias" {
		t.Errorf("a classifier into a net with a noise model: %+v, %v", report, err)
	}
	broken := saved(t, n, func(w []safetensors.Tensor) []safetensors.Tensor {
		w[1] = safetensors.Tensor{Name: w[1].Name, Shape: w[1].Shape, Data: []float32{1, 2, float32(math.NaN()), 4}}
		return w
	})
	expect.Refusal(t, expect.ErrorOf(n.Load(broken, nil)), "features.0.bias")
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
	n := newNet(t, conform.OpenCPU(t, 1), func() Config { c := c.Narrow(.01); c.Classes = 10; return c }())
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
	for _, test := range []struct {
		field  string
		of     Config
		change func(*Config)
	}{
		{"classes", small(NoNoise), func(c *Config) { c.Classes = 0 }},
		{"depths", small(NoNoise), func(c *Config) { c.Depths = nil }},
		{"widths[1]", small(NoNoise), func(c *Config) { c.Widths[1] = -1 }},
		{"dropout", small(NoNoise), func(c *Config) { c.Dropout = math.NaN() }},
		{"fc6-pad", small(NoNoise), func(c *Config) { c.FC6Pad = 3 }},
		{"noise", small(NoNoise), func(c *Config) { c.Noise = "maybe" }},
		{"noise-pool", small(NoNoise), func(c *Config) { c.NoisePool = "median" }},
		{"fc6-kernel", small(NoNoise), func(c *Config) { c.Size = 4 }},
		{"pictures", small(NoNoise), func(c *Config) { c.Hidden = []int{3} }},
		{"residual", smallResNet(Basic, NoNoise), func(c *Config) { c.Residual = "dense" }},
		{"fc6", smallResNet(Basic, NoNoise), func(c *Config) { c.FC6 = 8 }},
		{"dropout", smallResNet(Basic, NoNoise), func(c *Config) { c.Dropout = .5 }},
		{"last_pool", smallResNet(Basic, NoNoise), func(c *Config) { c.LastPool = true }},
		{"widths[1]", smallResNet(Basic, NoNoise), func(c *Config) { c.Widths[1] = 0 }},
		{"features", smallResNet(Basic, NoNoise), func(c *Config) { c.Input = 8 }},
		{"input", MLP(5, 3, []int{4, 4}), func(c *Config) { c.Input = -1 }},
		{"hidden[1]", MLP(5, 3, []int{4, 4}), func(c *Config) { c.Hidden[1] = 0 }},
		{"size", MLP(5, 3, []int{4, 4}), func(c *Config) { c.Size = 2 }},
		{"depths", MLP(5, 3, []int{4, 4}), func(c *Config) { c.Depths, c.Widths = []int{1}, []int{4} }},
	} {
		test.change(&test.of)
		expect.Refusal(t, test.of.Validate(), test.field)
	}
	for _, c := range []Config{small(NoNoise), VGG16(1000, true), Scenes(36, true), Scenes(36, false)} {
		expect.OK(t, c.Validate())
	}
}
