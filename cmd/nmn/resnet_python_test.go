package main

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/model/export"
	"nmn/run"
)

const resNetScript = "testdata/resnet.py"

// meanLogits are the logits of pictures N×3×H×W, averaged over the cells.
func meanLogits(t *testing.T, net *model.Net, shape []int, x []float32) []float32 {
	t.Helper()
	plan, err := net.Plan(shape[0], shape[0], false)
	expect.OK(t, err)
	cells := shape[2] * shape[3]
	here := make([]float32, plan.X.Len())
	for n := range shape[0] {
		for c := range 3 {
			for cell := range cells {
				here[(n*cells+cell)*plan.X.Dim(3)+c] = x[(n*3+c)*cells+cell]
			}
		}
	}
	backend := net.Backend()
	logits := model.Host(plan.Logits.Shape()...)
	expect.OK(t, backend.Upload(plan.X, tensor.HostArray(tensor.Float32, here)))
	expect.OK(t, net.Forward(plan, false))
	expect.OK(t, backend.Download(logits, plan.Logits))
	classes, instances := net.Config().Classes, net.Config().Instances()
	means := make([]float32, shape[0]*classes)
	for i, v := range logits.Float32s() {
		means[i/(instances*classes)*classes+i%classes] += v / float32(instances)
	}
	return means
}

// largestDifference is the largest of two arrays' differences.
func largestDifference(a, b []float32) (worst float64) {
	for i := range a {
		if d := math.Abs(float64(a[i]) - float64(b[i])); !(d <= worst) { // NaN too
			worst = d
		}
	}
	return worst
}

// resNetCase is a net of another program, and the one here that it is.
type resNetCase struct {
	source, name string
	pixels       int
}

func (c resNetCase) String() string { return c.source + "-" + c.name }

var resNetModules = []string{"torch", "safetensors", "torchvision", "timm"}

// The residual nets of torchvision and timm give here what they give there, from both formats of their weights, and
// torchvision takes what nmn writes of them.
func TestInit_ResNetsOfTorchvisionAndTimm(t *testing.T) {
	// Each net once, and each kind of block by each program.
	cases := []resNetCase{{"torchvision", "resnet18", 224}, {"timm", "resnet34", 64}, {"timm", "resnet50", 97},
		{"torchvision", "resnet101", 64}}
	dir := t.TempDir()
	var write, read [][]string
	for _, c := range cases {
		folder := filepath.Join(dir, c.String())
		expect.OK(t, os.Mkdir(folder, 0o777))
		write = append(write, []string{"write", c.source, c.name, strconv.Itoa(c.pixels), folder})
		read = append(read, []string{"folded", c.name, filepath.Join(folder, "folded.safetensors"), folder})
	}
	pythonOf(t, resNetScript, 3*len(cases), resNetModules, write)
	for _, c := range cases {
		t.Run(c.String(), func(t *testing.T) { checkResNet(t, c, filepath.Join(dir, c.String())) })
	}
	pythonOf(t, resNetScript, 0, resNetModules, read)
	for _, c := range cases {
		_, again := readArray(t, filepath.Join(dir, c.String(), "again.npy"))
		_, want := readArray(t, filepath.Join(dir, c.String(), "logits.npy"))
		if worst := largestDifference(again, want); !(worst <= 2e-4) {
			t.Errorf("%s: torchvision's logits of the folded weights differ by %g", c, worst)
		}
	}
}

// checkResNet reads the weights in a folder, compares logits, and writes the folded weights next to them.
func checkResNet(t *testing.T, c resNetCase, folder string) {
	config, err := model.ResNet(c.name, 1000, false)
	expect.OK(t, err)
	config.Size = c.pixels
	shape, x := readArray(t, filepath.Join(folder, "x.npy"))
	_, want := readArray(t, filepath.Join(folder, "logits.npy"))
	net := newTestNet(t, config, 1)
	for _, file := range []string{"net.pth", "net.safetensors"} {
		weights := &run.WeightLoader{Log: slog.New(slog.DiscardHandler), Notify: func(run.Message) {}}
		n := &run.NetConfig{Arch: run.NetName(c.name), Weights: filepath.Join(folder, file),
			WeightsClassifier: true}
		expect.OK(t, weights.Load(net, n, testVocabulary(t, 1000)))
		worst := largestDifference(meanLogits(t, net, shape, x), want)
		t.Logf("%s: logits from %.3g to %.3g, largest difference %.2g", file, slices.Min(want), slices.Max(want), worst)
		if !(worst <= 2e-4) {
			t.Errorf("%s: logits differ by %g", file, worst)
		}
	}
	if _, err := export.File(filepath.Join(folder, "folded.safetensors"), net, export.FileOptions{}); err != nil {
		t.Fatal(err)
	}
	told := must(t, "weights", filepath.Join(folder, "net.pth"))
	wantParts(t, told, c.name, "folded", "layer4.0.downsample.0")
}

// Variants of ResNets are refused by the name of a tensor.
func TestInit_VariantsOfResNetsAreRefused(t *testing.T) {
	wants := map[resNetCase]string{
		{"timm", "resnet50d", 0}:              "conv1.0.weight",
		{"timm", "seresnet50", 0}:             "layer1.0.se.",
		{"torchvision", "wide_resnet50_2", 0}: "layer1.0.bn1.weight is [128]",
		{"torchvision", "resnext50_32x4d", 0}: "layer1.0.bn1.weight is [128]",
	}
	dir := t.TempDir()
	var plan [][]string
	for c := range wants {
		folder := filepath.Join(dir, c.String())
		expect.OK(t, os.Mkdir(folder, 0o777))
		plan = append(plan, []string{"names", c.source, c.name, folder})
	}
	pythonOf(t, resNetScript, len(wants), resNetModules, plan)
	for c, want := range wants {
		file := filepath.Join(dir, c.String(), "net.safetensors")
		told := must(t, "weights", file)
		wantParts(t, told, "not the weights of resnet50", want)
	}
}
