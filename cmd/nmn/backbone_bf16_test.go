package main

import (
	"math"
	"path/filepath"
	"testing"

	"nmn/kernels/simd"
	"nmn/run"
	"nmn/tools/conform"
)

// On the CPU, bf16 is for features of transformers: by nmn extract, by a training on them and by its model. A net of
// convolutions is refused, and so is a processor without the instructions.
func TestBackbone_InBF16OnTheCPU(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	manifest := colouredPictures(t, folder, 30)
	weights := filepath.Join(transformers, "hf_clip.safetensors")
	extract := func(name string, more ...string) []string {
		return append([]string{"extract", "--weights", weights, "--heads", "3", "--device", "cpu", "--output",
			filepath.Join(dir, name+".npy")}, more...)
	}
	levels := simd.Levels()
	if missing := levels[len(levels)-1].BFloat16(); missing != nil {
		c := call(t, extract("half", folder, "--precision", "bf16")...)
		wantUsage(t, c, "AVX512_BF16")
		conform.Skip(t, "bf16", missing.Error())
	}
	must(t, extract("full", folder, "--precision", "fp32")...)
	must(t, extract("half", folder, "--precision", "bf16")...)
	must(t, extract("split", "--precision", "bf16", "--set", "data.manifest="+manifest, "--set",
		"data.validation_share=0", "--set", "data.test_share=0")...)
	full, _ := readRows(t, filepath.Join(dir, "full.npy"), "")
	half, _ := readRows(t, filepath.Join(dir, "half.npy"), "")
	split, _ := readRows(t, filepath.Join(dir, "split.npy"), "")
	worst := 0.
	for i, row := range full {
		for j, v := range row {
			if half[i][j] != split[i][j] {
				t.Fatalf("picture %d has other features in a split", i)
			}
			worst = max(worst, math.Abs(float64(v-half[i][j])/float64(max(v, -v, 1))))
		}
	}
	if !(worst > 1e-6 && worst < .02) {
		t.Errorf("features differ by %.2g", worst)
	}
	must(t, extract("auto", folder)...)
	if auto, _ := readRows(t, filepath.Join(dir, "auto.npy"), ""); auto[0][0] != full[0][0] {
		t.Error("auto does not give the features of fp32")
	}

	model := filepath.Join(dir, "run")
	must(t, "train", manifest, "--backbone", weights, "--run-dir", model, "--set", "net.backbone_heads=3",
		"--set", "net.hidden=[]", "--set", "train.stage1_epochs=2", "--device", "cpu", "--precision", "bf16", "-q")
	if c, err := run.ReadConfig(model); err != nil || c.Run.Precision != "bf16" {
		t.Errorf("the run notes precision %s, %v", c.Run.Precision, err)
	}
	must(t, "eval", model, "-q")
	predict := []string{"predict", model, folder, "--device", "cpu", "--precision"}
	if must(t, append(predict, "bf16")...) == "" || must(t, append(predict, "fp32")...) == "" {
		t.Error("nothing predicted")
	}

	vgg := filepath.Join(dir, "vgg.safetensors")
	tinyVGG(t, vgg, 1)
	c := call(t, "extract", "--weights", vgg, folder, "--output", filepath.Join(dir, "x.npy"), "--device", "cpu",
		"--precision", "bf16")
	wantUsage(t, c, "the CPU computes convolutions in fp32")
	wantParts(t, c.err, "VGG16")
}
