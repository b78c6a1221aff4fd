package main

import (
	"bufio"
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/model/export"
	"nmn/run"
)

// TestInit_FullSizeVGG16 holds torchvision's VGG16 of full size, written by PyTorch with random weights in all
// formats, to PyTorch's logits at 224 and 565 pixels, and its ONNX to nmn's probabilities. It takes minutes, 4 GB
// in the temporary folder and 4 GB of memory, and logs the peak of memory. NMN_FULL_WEIGHTS=1 runs it.
func TestInit_FullSizeVGG16(t *testing.T) {
	if os.Getenv("NMN_FULL_WEIGHTS") == "" {
		t.Skip("VGG16 of full size: NMN_FULL_WEIGHTS=1 with NMN_PYTHON runs it")
	}
	dir := t.TempDir()
	python(t, 14, []string{"torch", "torchvision", "safetensors"}, [][]string{{"vgg16", dir}})
	backend, err := kernels.OpenCPU(kernels.CPUConfig{})
	check(t, err)
	defer backend.Close()
	s := &run.Session{Log: slog.New(slog.DiscardHandler)}
	for _, file := range []string{"zip.pth", "legacy.pth", "torchvision.safetensors", "timm.safetensors", "arrays.npz",
		"released.caffemodel"} {
		for _, size := range []int{224, 565} {
			net, err := model.New(model.VGG16(1000, size == 565), backend)
			if err == nil {
				err = net.Freeze(func(*model.Param) bool { return true })
			}
			check(t, err)
			resetPeak(t)
			began := time.Now()
			n := &run.NetConfig{Arch: run.NetVGG16, Pixels: run.PixelsUnit, Weights: filepath.Join(dir, file),
				WeightsClassifier: true}
			check(t, s.LoadWeights(net, n, testVocabulary(t, 1000)))
			t.Logf("%s: loaded in %.1f s, peak of resident memory %s, with the net's 528 MiB", file,
				time.Since(began).Seconds(), peak(t))
			compareLogits(t, net, dir, size)
			if file == "zip.pth" {
				fullGraph(t, net, dir, size)
			}
			check(t, net.Close())
		}
	}
}

// uploadPictures puts a batch N×C×H×W into a plan.
func uploadPictures(t *testing.T, net *model.Net, path string) *model.Plan {
	t.Helper()
	shape, values := readArray(t, path)
	plan, err := net.Plan(shape[0], shape[0], false)
	check(t, err)
	cells, held := shape[2]*shape[3], plan.X.Dim(3)
	here := make([]float32, plan.X.Len())
	for i, v := range values {
		n, channel, cell := i/(3*cells), i/cells%3, i%cells
		here[(n*cells+cell)*held+channel] = v
	}
	check(t, net.Backend().Upload(plan.X, tensor.HostArray(tensor.Float32, here)))
	check(t, net.Forward(plan, false))
	return plan
}

func compareLogits(t *testing.T, net *model.Net, dir string, size int) {
	t.Helper()
	plan := uploadPictures(t, net, filepath.Join(dir, fmt.Sprintf("x%d.npy", size)))
	shape, want := readArray(t, filepath.Join(dir, fmt.Sprintf("logits%d.npy", size)))
	if !slices.Equal(shape, plan.Logits.Shape()) {
		t.Fatalf("logits %v, PyTorch's %v", plan.Logits.Shape(), shape)
	}
	got := downloaded(t, net, plan.Logits)
	worst, scale := 0.0, 0.0
	for i, v := range want {
		worst = max(worst, math.Abs(float64(v)-float64(got[i])))
		scale += float64(v) * float64(v) / float64(len(want))
	}
	t.Logf("%d pixels: logits %v of deviation %.2g, largest difference from PyTorch's %.2g", size, shape,
		math.Sqrt(scale), worst)
	if !(worst < 1e-4) {
		t.Errorf("%d pixels: logits differ from PyTorch's by %g", size, worst)
	}
}

func downloaded(t *testing.T, net *model.Net, from *tensor.Tensor) []float32 {
	t.Helper()
	host := model.Host(from.Shape()...)
	check(t, net.Backend().Download(host, from))
	return host.Float32s()
}

// fullGraph writes the net as ONNX and holds what ONNX Runtime makes of the picture to what nmn does.
func fullGraph(t *testing.T, net *model.Net, dir string, size int) {
	t.Helper()
	graph := filepath.Join(dir, "net.onnx")
	resetPeak(t)
	before, began := peak(t), time.Now()
	file, err := os.Create(graph)
	check(t, err)
	buffered := bufio.NewWriterSize(file, 1<<20)
	if _, err := export.ONNX(buffered, net, export.GraphOptions{}); err != nil {
		t.Fatal(err)
	}
	check(t, cmp.Or(buffered.Flush(), file.Close()))
	t.Logf("%d pixels: ONNX written in %.1f s, peak of resident memory %s, before it %s", size,
		time.Since(began).Seconds(), peak(t), before)
	picture, output := filepath.Join(dir, fmt.Sprintf("x%d.npy", size)), filepath.Join(dir, "p.npy")
	plan := uploadPictures(t, net, picture)
	want := downloaded(t, net, plan.Prob)
	python(t, 1, []string{"onnxruntime"}, [][]string{{"onnx", graph, picture, output}})
	_, got := readArray(t, output)
	worst := 0.0
	for i, v := range want {
		worst = max(worst, math.Abs(float64(v)-float64(got[i])))
	}
	t.Logf("%d pixels: largest difference of probabilities from ONNX Runtime's %.2g", size, worst)
	if !(worst < 1e-5) || len(got) != len(want) {
		t.Errorf("%d pixels: probabilities differ from ONNX Runtime's by %g", size, worst)
	}
}

// resetPeak makes Linux count the peak of resident memory from now on.
func resetPeak(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory() // what nets before have left
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak of memory counts from the start: %v", err)
	}
}

// peak is the peak of resident memory, as Linux has it.
func peak(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(kib)
		}
	}
	return "unknown"
}
