package model

import (
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// tinyConfig describes the net of the tiny_net fixtures for an input of this shape.
func tinyConfig(params *conform.Fixture, x []int) Config {
	n := params.Net()
	return Config{Size: x[2], Width: x[3], LastPool: true, MIL: true, Noise: FeatureDependent, NoisePool: "mean",
		Depths: n.Depths, Widths: n.Widths, FC6: n.FC6, FC6Kernel: n.FC6Kernel, FC6Pad: n.FC6Pad, FC7: n.FC7,
		Classes: n.Classes, Scale: [3]float32{1, 1, 1}}
}

// tiny makes the net of the fixtures with its weights, and a plan with the batch.
func tiny(t *testing.T, params *conform.Fixture, x, z conform.Array, change func(*Config)) (*Net, *Plan) {
	t.Helper()
	return tinyOn(t, conform.OpenDevice(t, 2), params, x, z, change)
}

func tinyOn(t *testing.T, device kernels.Backend, params *conform.Fixture, x, z conform.Array,
	change func(*Config)) (*Net, *Plan) {
	t.Helper()
	c := tinyConfig(params, x.Shape)
	change(&c)
	n := newNet(t, device, c)
	byName := map[string]*Param{}
	for _, p := range n.Params() {
		byName[p.Name] = p
	}
	for _, name := range params.Group("inputs.params") {
		p := byName[conform.ParamName(name)]
		if p == nil {
			if strings.HasPrefix(name, "nmn.") && c.Noise != FeatureDependent {
				continue
			}
			t.Fatalf("the net has no %s", name)
		}
		expect.OK(t, n.SetValues(p, params.Parameter("inputs.params", name).Float32s()))
	}
	bags := x.Shape[0]
	p := plan(t, n, bags, bags)
	conform.Put(t, device, p.X, x.NHWC().Float32s())
	conform.Put(t, device, p.Labels, z.Float32s())
	return n, p
}

func checkGradients(t *testing.T, n *Net, f *conform.Fixture, group string) {
	t.Helper()
	got := gradients(t, n)
	for _, name := range f.Group("expected." + group) {
		if name == "x" {
			continue
		}
		g, ok := got[conform.ParamName(name)]
		want := f.Parameter("expected."+group, name)
		if !ok { // the fixture lists zero gradients for a noise model that is not there
			if slices.ContainsFunc(want.Data, func(v float64) bool { return v != 0 }) {
				t.Errorf("no gradient of %s", name)
			}
			continue
		}
		want.Check(t, g)
	}
}

func checkLoss(t *testing.T, n *Net, p *Plan, want conform.Array) {
	t.Helper()
	want.Check(t, []float32{float32(lossOf(t, n, p) / float64(p.Bags))})
}

func checkTensor(t *testing.T, n *Net, got *tensor.Tensor, want conform.Array) {
	t.Helper()
	want.Check(t, values(t, n, got))
}

func TestTinyNet_ForwardLossAndAllGradients(t *testing.T) {
	params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net")
	n, p := tiny(t, params, params.Input("x"), params.Input("z"), func(*Config) {})
	step(t, n, p, StepOptions{Scale: 1 / float32(p.Bags)})
	checkLoss(t, n, p, f.Expected("loss"))
	checkTensor(t, n, p.Features, f.Expected("pool").NHWC())
	checkTensor(t, n, p.Logits, f.Expected("o").NHWC())
	checkTensor(t, n, p.Pooled, f.Expected("g"))
	checkTensor(t, n, p.Prob, f.Expected("p"))
	checkTensor(t, n, p.Posterior, f.Expected("rho1"))
	checkTensor(t, n, p.Observed, f.Expected("p_obs"))
	checkGradients(t, n, f, "grads")
}

func TestTinyNet_WithoutNoiseWithMaxFeaturesAndDetached(t *testing.T) {
	params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net_variants")
	for group, change := range map[string]func(*Config){
		"bce":          func(c *Config) { c.Noise = NoNoise },
		"nmn_gmax":     func(c *Config) { c.NoisePool = "max" },
		"nmn_detach_g": func(c *Config) { c.NoiseDetach = true },
	} {
		t.Run(group, func(t *testing.T) {
			n, p := tiny(t, params, params.Input("x"), params.Input("z"), change)
			step(t, n, p, StepOptions{Scale: 1 / float32(p.Bags)})
			checkLoss(t, n, p, f.Expected(group+".loss"))
			checkGradients(t, n, f, group+".grads")
		})
	}
}

// A net with a noise model that is asked to leave it out learns as one without.
func TestTinyNet_WithoutNoiseByOption(t *testing.T) {
	params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net_variants")
	n, p := tiny(t, params, params.Input("x"), params.Input("z"), func(*Config) {})
	step(t, n, p, StepOptions{Scale: 1 / float32(p.Bags), WithoutNoise: true})
	checkLoss(t, n, p, f.Expected("bce.loss"))
	checkGradients(t, n, f, "bce.grads")
}

func TestTinyNet_UnpaddedFC6(t *testing.T) {
	params, f := conform.LoadFixture(t, "tiny_net_params"), conform.LoadFixture(t, "tiny_net_pad0")
	n, p := tiny(t, params, f.Input("x"), f.Input("z"), func(c *Config) { c.FC6Pad = f.Setting("fc6_pad") })
	step(t, n, p, StepOptions{Scale: 1 / float32(p.Bags)})
	checkLoss(t, n, p, f.Expected("loss"))
	checkTensor(t, n, p.Features, f.Expected("pool").NHWC())
	checkTensor(t, n, p.Logits, f.Expected("o").NHWC())
	checkTensor(t, n, p.Prob, f.Expected("p"))
	checkGradients(t, n, f, "grads")
}

// download copies a tensor of a net to the host.
func (n *Net) download(t *tensor.Tensor) ([]float32, error) {
	values := make([]float32, t.Len())
	return values, n.backend.Download(tensor.HostArray(tensor.Float32, values), t)
}
