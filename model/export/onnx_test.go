package export

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/model"
)

const graphBatch = 3

// oddScenes is a net on pictures of 21×27 pixels. Each of three pools leaves a row or a column over: 21, 11,
// 6, 3 rows and 27, 14, 7, 4 columns. fc6 has padding 1, so that 3×4 cells remain.
func oddScenes(change func(*model.Config)) model.Config {
	c := model.Scenes(4, true).Narrow(.25)
	c.Size, c.Width, c.FC6Pad = 21, 27, 1
	c.Mean, c.Scale = [3]float32{120, 110, 100}, [3]float32{.02, .015, .01}
	change(&c)
	return c
}

// oddResNet is a residual net with both kinds of shortcut on pictures of odd sizes.
func oddResNet(kind model.Residual, noise model.NoiseMode, mil bool) model.Config {
	return model.Config{Classes: 4, Size: 45, Width: 37, Residual: kind, Depths: []int{1, 2, 1}, Widths: []int{4, 6, 5},
		MIL: mil, Noise: noise, NoisePool: "mean", Mean: [3]float32{120, 110, 100}, Scale: [3]float32{.02, .015, .01}}
}

// The exported graph gives the p(y=1) and the p(z=1) that the net gives.
func TestONNX_GivesWhatTheNetGives(t *testing.T) {
	hidden := model.MLP(6, 4, []int{8, 5})
	hidden.Noise = model.FeatureDependent
	exclusive := oddScenes(func(c *model.Config) {
		c.MIL, c.Noise, c.Exclusive = false, model.FeatureIndependent, true
	})
	linear := model.MLP(7, 3, nil)
	linear.Noise, linear.Standardised = model.FeatureDependent, true
	for name, c := range map[string]struct {
		config model.Config
		bias   float32 // of the classes' logits, around which they are drawn
		pixels bool
	}{
		"mean of cells, rates alike for all bags": {config: oddScenes(func(c *model.Config) {
			c.MIL, c.Noise = false, model.FeatureIndependent
		})},
		"noisy-or, mean features": {bias: -2, config: oddScenes(func(c *model.Config) {
			c.Noise = model.FeatureDependent
		})},
		"noisy-or, max features, last pool, from pixels": {bias: -2, pixels: true, config: oddScenes(
			func(c *model.Config) { c.Noise, c.NoisePool, c.LastPool = model.FeatureDependent, "max", true })},
		"noisy-or of probabilities that float32 cannot subtract from 1": {bias: -19, config: oddScenes(
			func(c *model.Config) { c.Noise = model.FeatureIndependent })},
		"residual, noisy-or, mean features": {bias: -2, config: oddResNet(model.Basic, model.FeatureDependent, true)},
		"bottlenecks, mean of cells, from pixels": {pixels: true, config: oddResNet(model.Bottleneck,
			model.FeatureIndependent, false)},
		"features, hidden layers":           {config: hidden},
		"classes that exclude each other":   {config: exclusive},
		"features on a scale, some missing": {config: linear},
	} {
		t.Run(name, func(t *testing.T) {
			net := newNet(t, c.config)
			unsettle(t, net, c.bias)
			if c.config.Standardised {
				mean, scale := []float32{-3, -2, -1, 0, 1, 2, 3}, []float32{1, .5, .25, 2, .1, .3, .7}
				expect.OK(t, net.SetStandard(mean, scale))
			}
			input, prepared := drawInput(net, c.pixels)
			prob, observed := forward(t, net, prepared)
			name := picturesInput
			if c.config.Input > 0 {
				name = featuresInput
			}
			g := exported(t, net, GraphOptions{Observed: true, Pixels: c.pixels})
			got := g.run(t, map[string]array{name: input})
			near(t, "p(y=1)", got[Probabilities], prob, c.config.Classes)
			near(t, "p(z=1)", got[Observed], observed, c.config.Classes)
			if _, is := exported(t, net, GraphOptions{Pixels: c.pixels}).run(t, map[string]array{name: input})[Observed]; is {
				t.Error("p(z=1) is an output though it was not asked for")
			}
		})
	}
}

// unsettle draws new values for the last layer and the noise model, so that no two classes, and no two rates,
// are alike.
func unsettle(t *testing.T, net *model.Net, bias float32) {
	t.Helper()
	stream := rng.New(7)
	for _, p := range net.Params() {
		noise := strings.HasPrefix(p.Name, noisePrefix)
		zero := strings.HasPrefix(p.Name, "backbone.layer") // some layers of residual blocks start at 0
		if !noise && !zero && !net.IsClassifier(p) {
			continue
		}
		values := make([]float32, p.FileLen())
		for i := range values {
			values[i] = float32(stream.Normal(0, .5))
			if zero {
				values[i] /= 4
			}
			if p.Name == model.TransitionName {
				values[i] = float32(math.Abs(float64(values[i])))
			}
			if p.Bias && !noise && !zero {
				values[i] += bias
			}
		}
		expect.OK(t, net.SetValues(p, values))
	}
}

// drawInput draws a batch twice: as the input of the graph, and as the input of the net's layers, which is
// normalised and, for pictures, N×H×W×3. If the net has a standard, some features are missing. Those are NaN
// for the graph, and 0, which is the mean, for the net.
func drawInput(net *model.Net, pixels bool) (input array, prepared []float32) {
	c, stream := net.Config(), rng.New(11)
	if c.Input > 0 {
		input, prepared = zeros(graphBatch, c.Input), make([]float32, graphBatch*c.Input)
		mean, scale := net.Standard()
		for i := range prepared {
			prepared[i] = float32(stream.Normal(0, 2))
			input.data[i] = float64(prepared[i])
			if mean != nil {
				prepared[i] = (prepared[i] - mean[i%c.Input]) * scale[i%c.Input]
				if i%5 == 1 {
					input.data[i], prepared[i] = math.NaN(), 0
				}
			}
		}
		return input, prepared
	}
	input, prepared = zeros(graphBatch, 3, c.Size, c.Width), make([]float32, graphBatch*c.Size*c.Width*3)
	plane := c.Size * c.Width
	for i := range prepared {
		picture, cell, channel := i/3/plane, i/3%plane, i%3
		pixel := float32(stream.Intn(256))
		prepared[i] = (pixel - c.Mean[channel]) * c.Scale[channel]
		at := (picture*3+channel)*plane + cell
		if input.data[at] = float64(prepared[i]); pixels {
			input.data[at] = float64(pixel)
		}
	}
	return input, prepared
}

// forward runs a batch through the net.
func forward(t *testing.T, net *model.Net, x []float32) (prob, observed []float32) {
	t.Helper()
	plan, err := net.Plan(graphBatch, graphBatch, false)
	expect.OK(t, err)
	expect.OK(t, net.Backend().Upload(plan.X, tensor.HostArray(tensor.Float32, x)))
	expect.OK(t, net.Forward(plan, false))
	download := func(from *tensor.Tensor) []float32 {
		values := make([]float32, from.Len())
		expect.OK(t, net.Backend().Download(tensor.HostArray(tensor.Float32, values), from))
		return values
	}
	return download(plan.Prob), download(plan.Observed)
}

// exported writes the graph of a net and reads it back.
func exported(t *testing.T, net *model.Net, o GraphOptions) *graph {
	t.Helper()
	var file bytes.Buffer
	expect.OK(t, expect.ErrorOf(ONNX(&file, net, o)))
	return readGraph(t, file.Bytes())
}

// near compares probabilities with the net's, to five digits.
func near(t *testing.T, what string, got array, want []float32, classes int) {
	t.Helper()
	if !slices.Equal(got.shape, []int{graphBatch, classes}) {
		t.Fatalf("%s has the shape %v", what, got.shape)
	}
	for i, w := range want {
		if !(math.Abs(got.data[i]-float64(w)) <= 1e-5*float64(w)) {
			t.Errorf("%s of bag %d, class %d is %g in the graph, %g in the net", what, i/classes, i%classes,
				got.data[i], w)
		}
	}
}

// The metadata of a graph describe its input.
func TestONNX_MetadataSayWhatTheInputIs(t *testing.T) {
	pictures, features := newNet(t, oddScenes(func(*model.Config) {})), newNet(t, model.MLP(2, 1, nil))
	for _, c := range []struct {
		net  *model.Net
		o    GraphOptions
		want map[string]string
	}{
		{pictures, GraphOptions{Words: []string{"a", "b"}}, map[string]string{"classes": `["a","b"]`,
			"input": "RGB, (pixel - mean) * scale for pixels from 0 to 255", "mean": "120 110 100",
			"scale": "0.02 0.015 0.01", "trained_height": "21", "trained_width": "27"}},
		{pictures, GraphOptions{Pixels: true}, map[string]string{"input": "RGB, pixels from 0 to 255"}},
		{features, GraphOptions{}, map[string]string{"input": "features as they are in files; the graph brings them to " +
			"the scale of the training data if the network stores one"}},
	} {
		g := exported(t, c.net, c.o)
		for key, want := range c.want {
			if g.metadata[key] != want {
				t.Errorf("%s is %q, want %q", key, g.metadata[key], want)
			}
		}
	}
}
