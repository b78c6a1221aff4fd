package model

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// feedFeatures uploads random features and labels, of bags of equally many frames, and returns the features.
func feedFeatures(t testing.TB, n *Net, p *Plan) (x, z []float32) {
	t.Helper()
	s := rng.New(5)
	x, z = make([]float32, p.X.Len()), make([]float32, p.Labels.Len())
	for i := range x {
		x[i] = float32(s.Normal(0, 1))
	}
	for i := range z {
		z[i] = float32(s.Intn(2))
	}
	keys := make([]int32, p.Frames)
	for i := range keys {
		keys[i] = int32(i + 7)
	}
	offsets := make([]int32, p.Bags+1)
	for i := range offsets {
		offsets[i] = int32(i * p.Frames / p.Bags)
	}
	for _, u := range []struct {
		to   *tensor.Tensor
		from any
	}{{p.X, x}, {p.Labels, z}, {p.Keys, keys}, {p.Offsets, offsets}} {
		if err := n.backend.Upload(u.to,
			dense.New(dense.WithShape(u.to.Len()), dense.WithBacking(u.from))); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Normalize(p); err != nil {
		t.Fatal(err)
	}
	return x, z
}

// plainLoss is the loss of a net on features without dropout, summed over bags of equally many rows, written
// in float64 as in the equations.
func plainLoss(c Config, params map[string][]float64, x []float64, z []float32) float64 {
	loss, bags := 0.0, len(z)/c.Classes
	for bag := range bags {
		var g, a []float64 // features that the noise model sees, and p(y=1)
		rows := len(x) / c.Input / bags
		for row := bag * rows; row < (bag+1)*rows; row++ {
			pooled, logits := plainRow(c, params, x[row*c.Input:(row+1)*c.Input])
			if row == bag*rows {
				g, a = make([]float64, len(pooled)), make([]float64, c.Classes)
			}
			for i, v := range pooled {
				g[i] += v / float64(rows)
			}
			for k, o := range logits {
				if c.MIL {
					a[k] += math.Log1p(-1 / (1 + math.Exp(-o)))
				} else {
					a[k] += o / float64(rows)
				}
			}
		}
		for k, o := range a {
			p1 := 1 / (1 + math.Exp(-o))
			if c.MIL { // p(y=1) = 1 - Π (1 - p)
				p1 = -math.Expm1(o)
			}
			flip := func(observed, true int) float64 { // O = U g(X) + b
				at := (observed*2+true)*c.Classes + k
				sum := params["nmn.bias"][at]
				if u, ok := params["nmn.weight"]; ok {
					for j, v := range g {
						sum += u[at*len(g)+j] * v
					}
				}
				return sum
			}
			q := func(observed, true int) float64 {
				return math.Exp(flip(observed, true)) / (math.Exp(flip(0, true)) + math.Exp(flip(1, true)))
			}
			seen := p1
			if c.Noise != NoNoise {
				seen = q(1, 1)*p1 + q(1, 0)*(1-p1)
			}
			if z[bag*c.Classes+k] == 1 {
				loss -= math.Log(seen)
			} else {
				loss -= math.Log1p(-seen)
			}
		}
	}
	return loss
}

// plainRow returns the noise model's input for a row, and the row's logits.
func plainRow(c Config, params map[string][]float64, a []float64) (pooled, logits []float64) {
	for i, fc := range c.head() {
		if i == len(c.head())-1 {
			pooled = a
		}
		w, out := params["head."+fc.name+".weight"], slices.Clone(params["head."+fc.name+".bias"])
		for k := range out {
			for j, v := range a {
				out[k] += w[k*len(a)+j] * v
			}
			if i < len(c.head())-1 {
				out[k] = max(out[k], 0)
			}
		}
		a = out
	}
	return pooled, a
}

func widen(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// All gradients of linear and deep nets on features are the central differences of the plain equations.
func TestMLP_GradientsAreThoseOfTheEquations(t *testing.T) {
	type bags struct {
		frames int // of each of 4 bags
		mil    bool
	}
	for _, hidden := range [][]int{nil, {4}, {6, 3}, {4, 4, 4}} {
		for i, noise := range []NoiseMode{NoNoise, FeatureIndependent, FeatureDependent, NoNoise, FeatureDependent,
			FeatureDependent} {
			of := []bags{{1, false}, {1, false}, {1, false}, {3, true}, {3, true}, {2, false}}[i]
			c := MLP(5, 3, hidden)
			c.Dropout, c.Noise, c.MIL = 0, noise, of.mil
			n := newNet(t, openCPU(t, 2), c)
			p := plan(t, n, 4*of.frames, 4)
			x, z := feedFeatures(t, n, p)
			step(t, n, p, StepOptions{Scale: 1})
			params, inputs := map[string][]float64{}, widen(x)
			for _, param := range n.all {
				values, err := n.Values(param)
				if err != nil {
					t.Fatal(err)
				}
				params[param.Name] = widen(values)
			}
			got := gradients(t, n)
			for name, values := range params {
				want := make([]float32, len(values))
				for i := range values {
					const h = 1e-5
					at := values[i]
					values[i] = at + h
					up := plainLoss(c, params, inputs, z)
					values[i] = at - h
					down := plainLoss(c, params, inputs, z)
					values[i] = at
					want[i] = float32((up - down) / (2 * h))
				}
				if err := close32(got[name], want, 1e-4); err != nil {
					t.Errorf("hidden %v, noise %s, %+v, gradient of %s: %v", hidden, noise, of, name, err)
				}
			}
			sum := lossOf(t, n, p)
			if want := plainLoss(c, params, inputs, z); math.Abs(sum-want) > 1e-5*want {
				t.Errorf("hidden %v, noise %s: loss %v, want %v", hidden, noise, sum, want)
			}
		}
	}
}

// With dropout the loss is a function of the seed, and the gradient its slope.
func TestMLP_GradientWithDropoutIsTheSlope(t *testing.T) {
	c := MLP(6, 3, []int{16, 8})
	c.Noise = FeatureDependent
	n := newNet(t, openCPU(t, 2), c)
	p := plan(t, n, 8, 8)
	feedFeatures(t, n, p)
	o := StepOptions{Scale: 1, DropoutSeed: 4}
	step(t, n, p, o)
	other := lossOf(t, n, p)
	o.DropoutSeed = 3
	step(t, n, p, o)
	if lossOf(t, n, p) == other {
		t.Error("another seed gives the same masks")
	}
	isSlope(t, n, p, o, []*Param{n.fc[0].w})
}

func TestMLP_FreezingEndsThePassAboveWhatLearns(t *testing.T) {
	n := newNet(t, openCPU(t, 1), MLP(5, 3, []int{4, 4}))
	p := plan(t, n, 4, 4)
	feedFeatures(t, n, p)
	o := StepOptions{Scale: 1, DropoutSeed: 9}
	step(t, n, p, o)
	all := gradients(t, n)
	for _, prefix := range []string{"head.fc1", "head.fc2", "head.fc3", "head.fc3.bias"} {
		if err := n.Freeze(func(p *Param) bool { return strings.HasPrefix(p.Name, prefix) }); err != nil {
			t.Fatal(err)
		}
		step(t, n, p, o)
		for name, g := range gradients(t, n) {
			if strings.HasPrefix(name, prefix) || !slices.Equal(g, all[name]) {
				t.Errorf("frozen %s*: the gradient of %s changed", prefix, name)
			}
		}
	}
}

func TestMLP_NamesSizesAndStandardInFiles(t *testing.T) {
	c := MLP(294, 6, []int{256, 256})
	if classifier, _ := c.Parameters(); classifier != 295*256+257*256+257*6 {
		t.Errorf("%d parameters", classifier)
	}
	c = MLP(3, 2, []int{4})
	c.Standardised = true
	backend := openCPU(t, 1)
	n := newNet(t, backend, c)
	if err := n.SetStandard([]float32{1, 2, 3}, []float32{4, 5, 0}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, nil, n.Weights()); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(f.Names(),
		" "); names != "head.fc1.weight head.fc1.bias head.fc2.weight head.fc2.bias input.mean input.scale" {
		t.Errorf("names in the file: %s", names)
	}
	if _, shape, err := f.Info("head.fc1.weight"); err != nil || !slices.Equal(shape, []int{4, 3}) {
		t.Errorf("fc1 is %v, %v, as torch's Linear has it", shape, err)
	}
	other := newNet(t, backend, c)
	if report, err := other.Load(f, nil); err != nil || len(report.Missing)+len(report.Unused) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if mean, scale := other.Standard(); !slices.Equal(mean, []float32{1, 2, 3}) ||
		!slices.Equal(scale, []float32{4, 5, 0}) {
		t.Errorf("standard %v, %v", mean, scale)
	}
	if err := other.SetStandard([]float32{1}, []float32{1}); err == nil {
		t.Error("a standard of another width is taken")
	}
	c.Standardised = false
	b.Reset()
	if err := safetensors.Write(&b, nil, newNet(t, backend, c).Weights()); err != nil {
		t.Fatal(err)
	}
	if f, err = safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Load(f, nil); !errors.Is(err, ErrOtherModel) || !strings.Contains(err.Error(), "input.mean") {
		t.Errorf("weights without the standard: %v", err)
	}
}

func TestMLP_ValidateNamesTheField(t *testing.T) {
	for field, change := range map[string]func(*Config){
		"input":     func(c *Config) { c.Input = -1 },
		"hidden[1]": func(c *Config) { c.Hidden[1] = 0 },
		"size":      func(c *Config) { c.Size = 2 },
		"depths":    func(c *Config) { c.Depths, c.Widths = []int{1}, []int{4} },
		"pictures":  func(c *Config) { *c = small(NoNoise); c.Hidden = []int{3} },
	} {
		c := MLP(5, 3, []int{4, 4})
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("a bad %s gives %v", field, err)
		}
	}
	if c := MLP(5, 3, []int{100, 7}).Narrow(.5); !slices.Equal(c.Hidden, []int{48, 8}) || c.FC6 != 0 {
		t.Errorf("narrow: %+v", c)
	}
}
