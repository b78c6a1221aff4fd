package backbone

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/model"
	"nmn/tools/conform"

	dense "gorgonia.org/tensor"
)

// smallTransformer writes the weights of one block with the names of timm: 64 numbers, and 2×2 patches of 16 pixels.
func smallTransformer(t *testing.T, extra ...safetensors.Tensor) string {
	t.Helper()
	stream, all := rng.New(5), extra
	add := func(name string, shape ...int) {
		count := 1
		for _, d := range shape {
			count *= d
		}
		values := make([]float32, count)
		for i := range values {
			values[i] = float32(stream.Normal(0, .2))
		}
		all = append(all, safetensors.Tensor{Name: name, Shape: shape, Data: values})
	}
	add("cls_token", 1, 1, 64)
	add("pos_embed", 1, 5, 64)
	add("patch_embed.proj.weight", 64, 3, 16, 16)
	for _, name := range []string{"patch_embed.proj.bias", "norm.weight", "norm.bias", "blocks.0.norm1.weight",
		"blocks.0.norm1.bias", "blocks.0.attn.proj.bias", "blocks.0.norm2.weight", "blocks.0.norm2.bias",
		"blocks.0.mlp.fc1.bias", "blocks.0.mlp.fc2.bias"} {
		add(name, 64)
	}
	add("blocks.0.attn.qkv.weight", 192, 64)
	add("blocks.0.attn.qkv.bias", 192)
	for _, name := range []string{"attn.proj", "mlp.fc1", "mlp.fc2"} {
		add("blocks.0."+name+".weight", 64, 64)
	}
	path := filepath.Join(t.TempDir(), "vit.safetensors")
	expect.OK(t, expect.ErrorOf(safetensors.WriteFile(path, nil, all)))
	return path
}

// A vision transformer is recognised with its layers, accepts other sizes of pictures, and returns several
// layers at once.
func TestOpen_VisionTransformer(t *testing.T) {
	backend, path := conform.OpenCPU(t, 2), smallTransformer(t)
	for _, size := range []int{0, 48} {
		net, err := Open(path, Options{Size: size}, backend)
		expect.OK(t, err)
		info := net.Info()
		crop := max(size, 32)
		if info.Default() != "cls" || info.Pictures.Crop != crop || !strings.Contains(info.Name, "timm") {
			t.Errorf("%s", info)
		}
		pixels, stream := make([]uint8, 2*crop*crop*3), rng.New(1)
		for i := range pixels {
			pixels[i] = uint8(stream.Uint64())
		}
		class, both := make([]float32, 2*64), make([]float32, 2*128)
		host := dense.New(dense.WithShape(2, crop, crop, 3), dense.WithBacking(pixels))
		expect.OK(t, net.Features(host, []model.Layer{"cls+mean", "cls"}, [][]float32{both, class}))
		if !slices.Equal(both[:64], class[:64]) || !slices.Equal(both[128:192], class[64:]) || class[0] == class[64] {
			t.Errorf("class tokens %v and %v", both[:4], class[:4])
		}
		expect.OK(t, net.Close())
	}
}

// The error names the tensor that does not fit, instead of calling the network unknown.
func TestOpen_RefusesVisionTransformers(t *testing.T) {
	backend := conform.OpenCPU(t, 2)
	one := safetensors.Tensor{Name: "blocks.0.attn.q_norm.weight", Shape: []int{1}, Data: make([]float32, 1)}
	for path, want := range map[string]string{
		smallTransformer(t, one): `"blocks.0.attn.q_norm.weight": it has norms of queries and keys`,
	} {
		expect.Refusal(t, expect.ErrorOf(Recognise(path, Options{}, backend)), want)
	}
	for size, want := range map[int]string{40: "patches of 16 pixels do not divide a height of 40 (32 or 48 would do)",
		9: "smaller than a patch of 16"} {
		if _, err := Open(smallTransformer(t), Options{Size: size}, backend); err == nil ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("at %d pixels: %v", size, err)
		}
	}
}
