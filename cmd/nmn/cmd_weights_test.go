package main

import (
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/safetensors"
)

func TestWeights_WhatIsInAFile(t *testing.T) {
	file := tensorFile(t, safetensors.Tensor{Name: "module.a", Shape: []int{2, 3}, Data: make([]float32, 6)})
	v := readJSON(t, must(t, "weights", file, "--json"))
	tensors := v["tensors"].([]any)
	first := tensors[0].(map[string]any)
	if v["format"] != "safetensors" || len(tensors) != 1 || first["name"] != "a" || first["dtype"] != "F32" ||
		v["vgg16"] != nil ||
		!strings.Contains(v["misfit"].(string), "features.0.weight") {
		t.Errorf("%v", v)
	}
	if text := must(t, "weights", file); !strings.Contains(text, "not those of VGG16") ||
		!strings.Contains(text, "2×3") {
		t.Errorf("%s", text)
	}
	odd := tensorFile(t, safetensors.Tensor{Name: "a\x1b[2J", Shape: []int{2}, Data: make([]float32, 2)})
	if text := must(t, "weights", odd); !strings.Contains(text, `a\x1b[2J`) {
		t.Errorf("a name that acts on a terminal: %q", text)
	}
	c := call(t, "weights", written(t, "w.pth", []byte("\x80\x02cposix\nsystem\n.")))
	if c.code != exitFailure || !strings.Contains(c.err, `"posix.system"`) {
		t.Errorf("exit code %d, %s", c.code, c.err)
	}
	wantUsage(t, call(t, "weights"), "weights")
}

// A run folder stands for its last checkpoint, which is told apart from the weights of others.
func TestWeights_OfARun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "stage1", "--set", "train.max_steps=1", "--run-dir", dir)...)
	for _, path := range []string{dir, filepath.Join(dir, "last.safetensors")} {
		out := must(t, "weights", path)
		if !strings.Contains(out, "a checkpoint of nmn") || strings.Contains(out, "VGG16") ||
			!strings.Contains(out, "classifier.6.weight") {
			t.Errorf("weights %s: %s", path, out)
		}
	}
}
