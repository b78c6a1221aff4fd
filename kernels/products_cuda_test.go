//go:build cuda

package kernels_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dense "gorgonia.org/tensor"

	"nmn/cuda/cublas"
	"nmn/cuda/cudnn"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/product"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
	"nmn/tools/emulator"
)

// openProducts opens the card with all products by one library, or by the faster one. It skips the test if
// the host has no cuBLASLt.
func openProducts(t testing.TB, p tensor.Precision, only product.Library, cache string) kernels.Backend {
	t.Helper()
	openCard(t) // skips the test if there is no card
	b, err := kernels.OpenCUDA(kernels.CUDAConfig{Precision: p, Products: only, Plans: cudnn.Options{CacheFolder: cache}})
	if errors.Is(err, cublas.ErrNoLibrary) {
		conform.Skip(t, "cublaslt", err.Error())
	}
	return opened(t, b, err)
}

// Products by each library agree with the reference. In bf16 these operations are computed as in fp32, or not
// as products.
func TestCUDA_ProductsOfEachLibraryConform(t *testing.T) {
	o := cardOptions
	o.Choose = func(c conform.Case) bool {
		switch c.Op {
		case "LSTM", "LSTMGrad", "CrossEntropy":
			return !c.Large
		case "Conv", "ConvGradData", "ConvGradFilter": // a real card would choose many plans anew
			return !c.Large && emulatedNow() && strings.Contains(c.Name, ",r=1,s=1,")
		}
		return false
	}
	for _, only := range []product.Library{product.CuBLASLt, product.CuDNN} {
		for _, p := range []tensor.Precision{tensor.FP32, tensor.TF32} {
			t.Run(string(only)+"/"+string(p), func(t *testing.T) {
				conform.Run(t, func(t testing.TB) kernels.Backend { return openProducts(t, p, only, "") }, o)
			})
		}
	}
}

// products computes a product forward, with bias, and back, and returns all results.
func products(t *testing.T, b kernels.Backend) (all []float32) {
	t.Helper()
	random := func(shape ...int) *tensor.Tensor {
		x, err := b.Alloc(tensor.Float32, shape...)
		stream, data := rng.New(uint64(shape[0])), make([]float32, x.Len())
		for i := range data {
			data[i] = float32(stream.Normal(0, 1))
		}
		expect.OK(t, errors.Join(err, b.Upload(x, dense.New(dense.WithShape(len(data)), dense.WithBacking(data)))))
		return x
	}
	rows, in, out := 10, 12, 20
	if !emulatedNow() {
		rows, in, out = 992, 700, 2800
	}
	x, w, bias, y := random(rows, 1, 1, in), random(out, 1, 1, in), random(out), random(rows, 1, 1, out)
	dx, dw := random(rows, 1, 1, in), random(out, 1, 1, in)
	for range 2 { // chosen, then stored
		expect.OK(t, errors.Join(b.Conv(y, x, w, bias, conv.Params{}), b.ConvGradData(dx, y, w, nil, conv.Params{}),
			b.ConvGradFilter(dw, x, y, conv.Params{})))
		all = slices.Concat(all, downloaded(t, b, y), downloaded(t, b, dx), downloaded(t, b, dw))
	}
	return all
}

// Measurements are stored: another run takes the same library and plan, and gives equal bits. A file that is
// corrupt, or a stored plan that does not work, is replaced by a new choice.
func TestCUDA_WaysToComputeProductsAreKept(t *testing.T) {
	folder := t.TempDir()
	want := products(t, openProducts(t, tensor.FP32, "", folder))
	files, _ := filepath.Glob(filepath.Join(folder, "products-*.json"))
	if len(files) != 1 {
		t.Fatalf("%v, want one file of products", files)
	}
	first, err := os.ReadFile(files[0])
	if err != nil || strings.Count(string(first), "_microseconds") != 2*3 {
		t.Fatalf("%v\n%s", err, first)
	}
	if got := products(t, openProducts(t, tensor.FP32, "", folder)); !slices.Equal(got, want) {
		t.Error("results differ from the run before")
	}
	if again, err := os.ReadFile(files[0]); err != nil || string(again) != string(first) {
		t.Errorf("chosen again: %v\n%s", err, again)
	}
	for _, text := range []string{"{", strings.ReplaceAll(string(first), `"library": "cudnn"`, `"library": "cublaslt",
		"way": {"algorithm": [77, 0, 0, 0, 0, 0, 0, 0], "workspace": 0}`)} {
		expect.OK(t, os.WriteFile(files[0], []byte(text), 0o600))
		if got := products(t, openProducts(t, tensor.FP32, "", folder)); emulatedNow() && !slices.Equal(got, want) {
			t.Errorf("other results after %.40s", text)
		}
	}
}

func emulatedNow() bool { return strings.Contains(os.Getenv("NMN_LIBCUDA"), "emulator") }

// Products are the same in every run, and both libraries agree: a factor that is transposed wrongly would show. On the
// emulator they sum in one order, and agree bit for bit.
func TestCUDA_LibrariesAgree(t *testing.T) {
	for p, tolerance := range map[tensor.Precision]float64{tensor.FP32: 1e-4, tensor.TF32: 1e-2} {
		if emulatedNow() {
			tolerance = 0
		}
		got, want := products(t, openProducts(t, p, product.CuBLASLt, "")), products(t, openProducts(t, p, product.CuDNN, ""))
		if half := len(got) / 2; !slices.Equal(got[:half], got[half:]) {
			t.Errorf("%s: the second run differs from the first", p)
		}
		largest := 0.0
		for _, w := range want {
			largest = max(largest, math.Abs(float64(w)))
		}
		for i, w := range want {
			if d := math.Abs(float64(got[i] - w)); !(d <= tolerance*largest) {
				t.Fatalf("%s: number %d is %v, want %v", p, i, got[i], w)
			}
		}
	}
}

// If cuBLASLt cannot be used, cuDNN computes all products, unless cuBLASLt is requested.
func TestCUDA_WithoutCuBLASLtTheProductsAreConvolutions(t *testing.T) {
	if !emulatedNow() {
		t.Skip("needs the emulator, which can fail a call")
	}
	want := products(t, openProducts(t, tensor.FP32, product.CuDNN, ""))
	t.Setenv(emulator.FailVariable, "cublasLtCreate 1 1")
	if got := products(t, openProducts(t, tensor.FP32, "", "")); !slices.Equal(got, want) {
		t.Error("other results")
	}
	t.Setenv(emulator.FailVariable, "cublasLtCreate 1 2")
	if _, err := kernels.OpenCUDA(kernels.CUDAConfig{Products: product.CuBLASLt}); !errors.Is(err, cublas.ErrNoLibrary) {
		t.Errorf("%v, want ErrNoLibrary", err)
	}
}
