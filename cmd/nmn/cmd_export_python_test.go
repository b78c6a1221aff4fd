package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/npy"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/model/export"
	"nmn/run"
)

// python runs testdata/exported.py with a plan, in the Python that NMN_PYTHON names. Where that is unset or
// lacks a module the test is skipped, and says how many checks are left out by that.
func python(t *testing.T, checks int, modules []string, plan [][]string) {
	t.Helper()
	pythonOf(t, "testdata/exported.py", checks, modules, plan)
}

// pythonOf is python with another program.
func pythonOf(t *testing.T, script string, checks int, modules []string, plan [][]string) {
	t.Helper()
	name := os.Getenv("NMN_PYTHON")
	if name == "" {
		t.Skipf("%d checks left out: NMN_PYTHON names no Python with %s", checks, strings.Join(modules, ", "))
	}
	run := func(plan [][]string) ([]byte, error) {
		var lines strings.Builder
		for _, line := range plan {
			lines.WriteString(strings.Join(line, "\t") + "\n")
		}
		return exec.CommandContext(t.Context(), name, script, written(t, "plan", []byte(lines.String()))).CombinedOutput()
	}
	if output, err := run([][]string{append([]string{"has"}, modules...)}); err != nil {
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		t.Skipf("%d checks left out: %s: %v, %s", checks, name, err, lines[len(lines)-1])
	}
	if output, err := run(plan); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

func writeArray(t *testing.T, path string, values []float32, shape ...int) {
	t.Helper()
	file, err := os.Create(path)
	expect.OK(t, err)
	defer file.Close()
	if _, err := file.Write(npy.Float32Header(shape...)); err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		b := math.Float32bits(v)
		if _, err := file.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)}); err != nil {
			t.Fatal(err)
		}
	}
}

func readArray(t *testing.T, path string) ([]int, []float32) {
	t.Helper()
	file, err := os.Open(path)
	expect.OK(t, err)
	defer file.Close()
	h, _, err := npy.ReadHeader(file)
	expect.OK(t, err)
	data, err := io.ReadAll(file)
	expect.OK(t, err)
	values := make([]float32, len(data)/h.Width)
	h.Float32s(values, data)
	return h.Shape, values
}

// graphCase is a net whose graph is run by ONNX Runtime and by nmn.
type graphCase struct {
	name   string
	net    *model.Net
	pixels bool
	batch  int
}

const graphBatch = 3

// graphCases are nets of all kinds, with noise models that are not near the identity and, in one, logits so
// low that a noisy-or that is not stable gives 0.
func graphCases(t *testing.T) []graphCase {
	scenes := func(mil bool, noise model.NoiseMode, change func(*model.Config)) model.Config {
		c := model.Scenes(5, mil).Narrow(.5)
		c.Noise = noise
		if change != nil {
			change(&c)
		}
		return c
	}
	features := model.MLP(12, 4, []int{16, 8})
	features.Noise = model.FeatureDependent
	linear := model.MLP(7, 3, nil)
	linear.Noise, linear.Standardised = model.FeatureDependent, true
	var cases []graphCase
	add := func(name string, c model.Config, bias float32, pixels bool) {
		net := newTestNet(t, c, uint64(len(cases)))
		unsettle(t, net, bias)
		cases = append(cases, graphCase{name, net, pixels, graphBatch})
	}
	add("mean of cells", scenes(false, model.FeatureIndependent, nil), -1, false)
	add("MIL", scenes(true, model.FeatureDependent, nil), -2, false)
	add("MIL, small probabilities", scenes(true, model.FeatureIndependent, nil), -19, false)
	add("MIL, max features, odd sizes, pixels", scenes(true, model.FeatureDependent, func(c *model.Config) {
		c.NoisePool, c.Size, c.Width, c.FC6Pad = "max", 45, 57, 1
	}), -2, true)
	for name, mil := range map[string]bool{"resnet18": true, "resnet50": false} {
		c, err := model.ResNet(name, 5, mil)
		expect.OK(t, err)
		c = c.Narrow(.125)
		c.Size, c.Width, c.Noise = 75, 60, model.FeatureDependent
		add(name+", odd sizes", c, -2, mil)
	}
	add("features", features, -1, false)
	add("linear, standardised", linear, -1, false)
	mean, scale := make([]float32, 7), make([]float32, 7)
	for i := range mean {
		mean[i], scale[i] = float32(i)-3, 1/float32(i+1)
	}
	expect.OK(t, cases[len(cases)-1].net.SetStandard(mean, scale))
	return cases
}

// unsettle draws the last layer and the noise model so that every output is another.
func unsettle(t *testing.T, net *model.Net, bias float32) {
	t.Helper()
	stream := rng.New(rng.Derive(7, "unsettle"))
	for _, p := range net.Params() {
		start, err := net.Values(p)
		expect.OK(t, err)
		last := !p.Bias && slices.Max(start) == 0 && slices.Min(start) == 0 // of residual blocks it starts at 0
		if !last && !net.IsClassifier(p) && !strings.HasPrefix(p.Name, "nmn.") {
			continue
		}
		values := make([]float32, p.FileLen())
		for i := range values {
			values[i] = float32(stream.Normal(0, .5))
			if p.Bias && net.IsClassifier(p) {
				values[i] = bias + values[i]
			} else if !p.Bias {
				values[i] /= 4
			}
			if last {
				values[i] /= 8
			}
		}
		expect.OK(t, net.SetValues(p, values))
	}
}

// predictHere runs a batch through the net and returns what a graph takes, in its order, and p(y=1) and
// p(z=1) as nmn has them.
func (c *graphCase) predictHere(t *testing.T) (shape []int, input, prob, observed []float32) {
	t.Helper()
	config, backend := c.net.Config(), c.net.Backend()
	plan, err := c.net.Plan(c.batch, c.batch, false)
	expect.OK(t, err)
	check := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	stream := rng.New(rng.Derive(11, c.name))
	x := plan.X.Shape()
	here := make([]float32, plan.X.Len())
	if config.Input > 0 {
		input = make([]float32, plan.X.Len())
		mean, scale := c.net.Standard()
		for i := range input {
			input[i] = float32(stream.Normal(0, 3))
			here[i] = input[i]
			if mean != nil {
				here[i] = (input[i] - mean[i%config.Input]) * scale[i%config.Input]
			}
			if mean != nil && i%10 == 3 {
				input[i], here[i] = float32(math.NaN()), 0
			}
		}
		shape = []int{c.batch, config.Input}
	} else {
		shape = []int{c.batch, 3, x[1], x[2]}
		input = make([]float32, c.batch*3*x[1]*x[2])
		for n := range c.batch {
			for cell := range x[1] * x[2] {
				for channel := range 3 {
					pixel := float32(stream.Intn(256))
					normalised := (pixel - config.Mean[channel]) * config.Scale[channel]
					at := (n*3+channel)*x[1]*x[2] + cell
					if input[at] = normalised; c.pixels {
						input[at] = pixel
					}
					here[(n*x[1]*x[2]+cell)*x[3]+channel] = normalised
				}
			}
		}
	}
	check(backend.Upload(plan.X, tensor.HostArray(tensor.Float32, here)))
	check(c.net.Forward(plan, false))
	prob, observed = make([]float32, plan.Prob.Len()), make([]float32, plan.Prob.Len())
	p, z := model.Host(plan.Prob.Shape()...), model.Host(plan.Prob.Shape()...)
	check(backend.Download(p, plan.Prob))
	check(backend.Download(z, plan.Observed))
	copy(prob, p.Float32s())
	copy(observed, z.Float32s())
	return shape, input, prob, observed
}

func TestExport_ONNXRuntimeGivesWhatNMNPredicts(t *testing.T) {
	if os.Getenv("NMN_PYTHON") == "" {
		python(t, 8, []string{"onnx", "onnxruntime"}, nil)
	}
	dir := t.TempDir()
	cases := graphCases(t)
	var plan [][]string
	wants := make([][2][]float32, len(cases))
	for i, c := range cases {
		path := func(name string) string { return filepath.Join(dir, fmt.Sprintf("%d-%s", i, name)) }
		file, err := os.Create(path("net.onnx"))
		expect.OK(t, err)
		if _, err := export.ONNX(file, c.net, export.GraphOptions{Observed: true, Pixels: c.pixels,
			Words: []string{"a"}, Version: "test"}); err != nil {
			t.Fatal(err)
		}
		expect.OK(t, file.Close())
		shape, input, prob, observed := c.predictHere(t)
		wants[i] = [2][]float32{prob, observed}
		writeArray(t, path("input.npy"), input, shape...)
		plan = append(plan, []string{"check", path("net.onnx")},
			[]string{"onnx", path("net.onnx"), path("input.npy"), path("p.npy"), path("z.npy")})
	}
	python(t, len(cases), []string{"onnx", "onnxruntime"}, plan)
	for i, c := range cases {
		for j, output := range []string{"p.npy", "z.npy"} {
			shape, got := readArray(t, filepath.Join(dir, fmt.Sprintf("%d-%s", i, output)))
			want := wants[i][j]
			if !slices.Equal(shape, []int{c.batch, c.net.Config().Classes}) {
				t.Errorf("%s, %s: shape %v", c.name, output, shape)
				continue
			}
			worst, relative := 0.0, 0.0
			for k := range want {
				d := math.Abs(float64(got[k]) - float64(want[k]))
				worst, relative = max(worst, d), max(relative, d/float64(want[k]))
			}
			t.Logf("%s, %s: %.2g to %.2g, largest difference %.2g, %.2g of the value", c.name, output, slices.Min(want),
				slices.Max(want), worst, relative)
			if !(worst < 1e-5 && relative < 1e-3) { // ONNX Runtime's sigmoid is good to some 1e-8
				t.Errorf("%s, %s: differs by %g, %g of the value", c.name, output, worst, relative)
			}
		}
	}
}

// TestExport_WeightsGoThroughPyTorchAndBack writes a net's weights, has Python read both files and PyTorch
// write them in both its formats, and starts other nets from all four.
func TestExport_WeightsGoThroughPyTorchAndBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := newTestNet(t, narrowVGG(5), 1)
	weights := filepath.Join(dir, "w")
	for ending, write := range map[string]func(*os.File) (int, error){
		".safetensors": func(w *os.File) (int, error) { return export.Safetensors(w, source, false, nil) },
		".npz":         func(w *os.File) (int, error) { return export.NPZ(w, source, false) },
	} {
		file, err := os.Create(weights + ending)
		expect.OK(t, err)
		if _, err := write(file); err != nil {
			t.Fatal(err)
		}
		expect.OK(t, file.Close())
	}
	start := func(file string) {
		net := newTestNet(t, narrowVGG(5), 2)
		weights := &run.WeightLoader{Log: slog.New(slog.DiscardHandler), Notify: func(run.Message) {}}
		n := &run.NetConfig{Arch: run.NetVGG16, Weights: file, WeightsClassifier: true}
		expect.OK(t, weights.Load(net, n, testVocabulary(t, 5)))
		sameParams(t, source, net, func(string) bool { return true })
	}
	start(weights + ".safetensors")
	start(weights + ".npz")
	torch := filepath.Join(dir, "torch")
	python(t, 2, []string{"torch", "safetensors"}, [][]string{{"pth", weights, torch}})
	start(torch + ".pth")
	start(torch + ".legacy.pth")
}
