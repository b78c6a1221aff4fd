package vit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/tools/conform"
)

// Nets of full size with random weights give the features of PyTorch, from the files that its programs write.
// NMN_PYTHON names a Python with some of torchvision, timm and transformers. Missing ones are skipped.
func TestFull_FeaturesAreThoseOfPyTorch(t *testing.T) {
	// One of each architecture. Files with other names of the same weights are tested on small nets.
	names := []string{"torchvision", "timm_dinov2", "hf_clip"}
	if testing.Short() {
		t.Skipf("%d vision transformers of full size left out: -short", len(names))
	}
	python := os.Getenv("NMN_PYTHON")
	if python == "" || exec.CommandContext(t.Context(), python, "-c", "import torch, safetensors").Run() != nil {
		t.Skipf("%d vision transformers of full size left out: NMN_PYTHON names no Python with torch and safetensors",
			len(names))
	}
	folder := t.TempDir()
	script := append([]string{"testdata/make.py", folder, "full"}, names...)
	said, err := exec.CommandContext(t.Context(), python, script...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	backend := conform.OpenCPU(t, 0)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if _, why, left := strings.Cut(string(said), "left out "+name+": "); left {
				t.Skip(why)
			}
			compare(t, backend, filepath.Join(folder, name+".safetensors"), 0, 2e-4)
		})
	}
}
