package main

import (
	"path/filepath"
	"strings"
	"testing"

	"nmn/format/safetensors"
)

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
