package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// kernelsFolder holds the sources of the kernels, and the files made from them.
const kernelsFolder = "../../kernels"

func TestGenerate_TheTreeIsUpToDate(t *testing.T) {
	files := expect.Value(generate(kernelsFolder))(t)
	for path, want := range files {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source gives (%v): go run ./tools/launchgen", path, err)
		}
	}
	left := expect.Value(filepath.Glob(kernelsFolder + "/*/*_launch.go"))(t)
	for _, path := range left {
		if files[path] == nil {
			t.Errorf("%s has no CUDA source any more", path)
		}
	}
}

func TestGenerate_WritesTypedLaunches(t *testing.T) {
	folder := t.TempDir()
	source(t, folder, "pool", "bag",
		`extern "C" __global__ void bag_mean(float *g, const int *offsets, int bags, long long cells, float scale) {}
		extern "C" __global__ void bag_mean_bf16(bf16 *g, const int *offsets, int bags, long long cells, float scale) {}`)
	files := expect.Value(generate(folder))(t)
	text := string(files[filepath.Join(folder, "pool", "bag_launch.go")])
	for _, want := range []string{
		"//go:build cuda\n", "package pool\n", "type bagKernels struct",
		"type bagMeanArguments struct {\n\tg, offsets cuda.Address\n\tbags       int32\n\tcells      int64\n\tscale      " +
			"float32\n}",
		"bagMean tensor.Twins[bagMeanArguments] `kernel:\"bag_mean\"`\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := string(files[filepath.Join(folder, "kernels.cu")]); !strings.HasSuffix(text, "#include \"pool/bag.cu\"\n") {
		t.Error(text)
	}
}

func TestGenerate_RefusesTwoKernelsOfOneName(t *testing.T) {
	folder := t.TempDir()
	source(t, folder, "a", "x", `extern "C" __global__ void same(int n) {}`)
	source(t, folder, "b", "y", `extern "C" __global__ void same(int n) {}`)
	if _, err := generate(folder); err == nil || !strings.Contains(err.Error(), "kernel same is in") {
		t.Error(err)
	}
	if _, err := generate(t.TempDir()); err == nil {
		t.Error("a folder without sources is accepted")
	}
}

func source(t *testing.T, folder, family, stem, text string) {
	t.Helper()
	expect.OK(t, os.MkdirAll(filepath.Join(folder, family), 0o755))
	expect.OK(t, os.WriteFile(filepath.Join(folder, family, stem+".cu"), []byte(text), 0o644))
}
