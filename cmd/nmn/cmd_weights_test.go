package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/run/weights/pretrained"
)

func TestWeights_WhatIsInAFile(t *testing.T) {
	file := tensorFile(t, safetensors.Tensor{Name: "module.a", Shape: []int{2, 3}, Data: make([]float32, 6)})
	v := readJSON(t, must(t, "weights", file, "--json"))
	tensors := v["tensors"].([]any)
	first := tensors[0].(map[string]any)
	if v["format"] != "safetensors" || len(tensors) != 1 || first["name"] != "a" || first["dtype"] != "F32" ||
		v["vgg16"] != nil || !strings.Contains(v["misfit"].(string), "features.0.weight") {
		t.Errorf("%v", v)
	}
	wantParts(t, must(t, "weights", file), "not the weights of VGG16", "2×3")
	odd := tensorFile(t, safetensors.Tensor{Name: "a\x1b[2J", Shape: []int{2}, Data: make([]float32, 2)})
	wantParts(t, must(t, "weights", odd), `a\x1b[2J`)
	c := call(t, "weights", written(t, "w.pth", []byte("\x80\x02cposix\nsystem\n.")))
	wantFailure(t, c, `"posix.system"`)
}

// Published weights are known by name: listed, and asked for where they are not downloaded.
func TestWeights_Published(t *testing.T) {
	cache := t.TempDir()
	for _, variable := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(variable, cache)
	}
	var listed []struct{ Name, Address, Path string }
	list := func() map[string]string {
		t.Helper()
		expect.OK(t, json.Unmarshal([]byte(must(t, "weights", "--json")), &listed))
		paths := map[string]string{}
		for _, f := range listed {
			paths[f.Name] = f.Path
		}
		return paths
	}
	if paths := list(); len(paths) != len(pretrained.Files()) || paths["resnet18"] != "" {
		t.Errorf("listed %v", paths)
	}
	wantParts(t, must(t, "weights"), "dinov2-small  88 MB   no    Apache-2.0")
	train := []string{"train", "scenes", "--backbone", "resnet18", "--run-dir", filepath.Join(t.TempDir(), "run")}
	for _, args := range [][]string{train, {"extract", "--weights", "resnet18", "x.jpg"}, {"weights", "resnet18"}} {
		wantUsage(t, call(t, args...), "resnet18 is not downloaded yet", "nmn weights get resnet18", "47 MB")
	}
	wantUsage(t, call(t, "weights", "get", "resnet17"), `no published weights "resnet17"`, "resnet18")
	wantUsage(t, call(t, "weights", "resnet-18"), "did you mean the published weights resnet18?")

	folder, err := pretrained.Folder()
	expect.OK(t, err)
	file := tensorFile(t, safetensors.Tensor{Name: "mine", Shape: []int{2}, Data: make([]float32, 2)})
	expect.OK(t, errors.Join(os.MkdirAll(folder, 0o777), os.Rename(file, filepath.Join(folder, "resnet18.pth"))))
	if paths := list(); paths["resnet18"] != filepath.Join(folder, "resnet18.pth") {
		t.Errorf("listed %v", paths)
	}
	wantParts(t, must(t, "weights", "resnet18"), "mine")
	if out := must(t, "config", "scenes", "--init", "resnet18"); !strings.Contains(out, filepath.Join(folder, "resnet18.pth")) {
		t.Error("the configuration does not name the file")
	}
	c := call(t, "weights", "get", "resnet18") // what is there is not the publisher's, and stays
	wantFailure(t, c, "is there with the SHA-256")
}

// A run folder stands for its last checkpoint, which is recognised as a checkpoint of nmn.
func TestWeights_OfARun(t *testing.T) {
	t.Parallel()
	dir := trainedArm(t, "stage1")
	for _, path := range []string{dir, filepath.Join(dir, "last.safetensors")} {
		out := must(t, "weights", path)
		if !strings.Contains(out, "a checkpoint of nmn") || strings.Contains(out, "VGG16") ||
			!strings.Contains(out, "classifier.6.weight") {
			t.Errorf("weights %s: %s", path, out)
		}
	}
}

// transformers is where the nets of package vit's tests lie.
const transformers = "../../model/vit/testdata"

// For a vision transformer the output has its name, how it needs pictures, and the unused tensors.
func TestWeights_OfAVisionTransformer(t *testing.T) {
	text := must(t, "weights", filepath.Join(transformers, "hf_clip.safetensors"))
	wantParts(t, text, "ViT-24/4, layout Hugging Face, CLIP: 2 blocks of width 24", "GELU quick",
		"shorter side to 16, bicubic, middle 16×16, mean [0.48145467 0.4578275 0.40821072]",
		"cls 24, mean 24, cls+mean 48, embedding 12", "3 tensors of no use here: ", "text_model.final_layer_norm.weight")
	told := readJSON(t, must(t, "weights", filepath.Join(transformers, "dinov2_reg4.safetensors"), "--json"))
	net := told["transformer"].(map[string]any)
	if net["layout"] != "DINOv2" || net["registers"] != 4. || net["layer_scale"] != true || told["misfit"] != nil ||
		len(net["taken"].([]any)) != 35 || net["unused"].([]any)[0] != "mask_token" {
		t.Errorf("%v", net)
	}
}

// What tensors do not say can be said, and is refused where the net cannot have it.
func TestWeights_OfAVisionTransformerWithWords(t *testing.T) {
	file := filepath.Join(transformers, "hf_clip.safetensors")
	text := must(t, "weights", file, "--gelu", "exact", "--heads", "3", "--input-mean", "0.5,0.5,0.5")
	wantParts(t, text, "3 heads", "GELU exact", "mean [0.5 0.5 0.5]")
	wantUsage(t, call(t, "weights", file, "--heads", "7"), "7 heads do not divide a width of 24")
	wantUsage(t, call(t, "weights", file, "--input-deviation", "58"), "--input-deviation has 1 numbers")
}

// One that is not computed here is refused by what it has, and its tensors are listed.
func TestWeights_OfAnotherVisionTransformer(t *testing.T) {
	file := tensorFile(t,
		safetensors.Tensor{Name: "patch_embed.proj.weight", Shape: []int{2, 3, 2, 2}, Data: make([]float32, 24)},
		safetensors.Tensor{Name: "blocks.0.mlp.w12.weight", Shape: []int{4, 2}, Data: make([]float32, 8)})
	text := must(t, "weights", file)
	if !strings.Contains(text, "a vision transformer that is not computed here: \"blocks.0.mlp.w12.weight\": it has "+
		"SwiGLU") ||
		strings.Contains(text, "VGG16") || !strings.Contains(text, "blocks.0.mlp.w12.weight") {
		t.Errorf("%s", text)
	}
}
