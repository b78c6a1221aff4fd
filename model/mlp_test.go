package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/tools/conform"
	"nmn/tools/ref"
)

// plainLoss is the loss of a net on features without dropout, summed over bags of equally many rows, written
// in float64 as in the equations.
func plainLoss(c Config, params map[string][]float64, x []float64, z []float32) float64 {
	loss, bags := 0.0, len(z)/c.Classes
	for bag := range bags {
		var g []float64                   // features that the noise model sees
		o := make([][]float64, c.Classes) // logits of the rows
		rows := len(x) / c.Input / bags
		for row := bag * rows; row < (bag+1)*rows; row++ {
			pooled, logits := plainRow(c, params, x[row*c.Input:(row+1)*c.Input])
			if g == nil {
				g = make([]float64, len(pooled))
			}
			for i, v := range pooled {
				g[i] += v / float64(rows)
			}
			for k, v := range logits {
				o[k] = append(o[k], v)
			}
		}
		for k := range o {
			var confidence *[2][2]float64 // O = U g(X) + b
			if c.Noise != NoNoise {
				confidence = &[2][2]float64{}
			}
			for i := 0; confidence != nil && i < 4; i++ {
				at := i*c.Classes + k
				sum := params["nmn.bias"][at]
				if u, ok := params["nmn.weight"]; ok {
					sum += ref.Dot(g, u[at*len(g):])
				}
				confidence[i/2][i%2] = sum
			}
			loss += ref.NoiseStep(o[k], confidence, float64(z[bag*c.Classes+k]), c.MIL).Loss
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
			n := newNet(t, conform.OpenCPU(t, 2), c)
			p := plan(t, n, 4*of.frames, 4)
			fill(t, n, p, 0)
			inputs, z := widen(values(t, n, p.X)), values(t, n, p.Labels)
			step(t, n, p, StepOptions{Scale: 1})
			params := map[string][]float64{}
			for _, param := range n.all {
				params[param.Name] = widen(values(t, n, param.W))
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

func TestMLP_NamesSizesAndStandardInFiles(t *testing.T) {
	c := MLP(294, 6, []int{256, 256})
	if classifier, _ := c.Parameters(); classifier != 295*256+257*256+257*6 {
		t.Errorf("%d parameters", classifier)
	}
	c = MLP(3, 2, []int{4})
	c.Standardised = true
	backend := conform.OpenCPU(t, 1)
	n := newNet(t, backend, c)
	expect.OK(t, n.SetStandard([]float32{1, 2, 3}, []float32{4, 5, 0}))
	f := saved(t, n)
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
	f = saved(t, newNet(t, backend, c))
	expect.Refusal(t, expect.ErrorOf(other.Load(f, nil)), "input.mean", ErrOtherModel)
	if c := MLP(5, 3, []int{100, 7}).Narrow(.5); !slices.Equal(c.Hidden, []int{48, 8}) || c.FC6 != 0 {
		t.Errorf("narrow: %+v", c)
	}
}
