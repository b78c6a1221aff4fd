package measure

import (
	"fmt"
	"slices"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/run"
)

// The vision transformers whose features are measured.
const (
	ViTS14 run.NetName = "vit-s14" // DINOv2's, with LayerScale
	ViTB16 run.NetName = "vit-b16"
	ViTL14 run.NetName = "vit-l14" // of DINOv2 too
)

// Transformers lists them.
func Transformers() []run.NetName { return []run.NetName{ViTS14, ViTB16, ViTL14} }

// transformers are their shapes. positions is the number of tokens that have an embedding.
var transformers = map[run.NetName]struct {
	width, depth, patch, positions int
	scale                          bool
}{
	ViTS14: {384, 12, 14, 1370, true},
	ViTB16: {768, 12, 16, 197, false},
	ViTL14: {1024, 24, 14, 1370, true},
}

// randomWeights are the tensors of a transformer as timm names them, with random numbers.
type randomWeights struct {
	names  []string
	shapes map[string][]int
	stream rng.Stream
}

func newRandomWeights(name run.NetName) *randomWeights {
	t := transformers[name]
	w := &randomWeights{shapes: map[string][]int{}, stream: rng.New(1)}
	pair := func(layer string, out int, in ...int) {
		w.add(layer+".weight", append([]int{out}, in...)...)
		w.add(layer+".bias", out)
	}
	w.add("cls_token", 1, 1, t.width)
	w.add("pos_embed", 1, t.positions, t.width)
	pair("patch_embed.proj", t.width, 3, t.patch, t.patch)
	for i := range t.depth {
		block := fmt.Sprintf("blocks.%d.", i)
		pair(block+"norm1", t.width)
		pair(block+"attn.qkv", 3*t.width, t.width)
		pair(block+"attn.proj", t.width, t.width)
		pair(block+"norm2", t.width)
		pair(block+"mlp.fc1", 4*t.width, t.width)
		pair(block+"mlp.fc2", t.width, 4*t.width)
		if t.scale {
			w.add(block+"ls1.gamma", t.width)
			w.add(block+"ls2.gamma", t.width)
		}
	}
	pair("norm", t.width)
	return w
}

func (w *randomWeights) add(name string, shape ...int) {
	w.names = append(w.names, name)
	w.shapes[name] = shape
}

// Names implements param.Source.
func (w *randomWeights) Names() []string { return w.names }

// Info implements param.Source.
func (w *randomWeights) Info(name string) (safetensors.DType, []int, error) {
	shape, ok := w.shapes[name]
	if !ok {
		return "", nil, fmt.Errorf("bench: there is no tensor %s", name)
	}
	return safetensors.F32, slices.Clone(shape), nil
}

// Elements implements param.Source: numbers from -1 to 1, scaled by the number of summands, keep the tokens
// finite.
func (w *randomWeights) Elements(name string) (func(dst []float32) error, error) {
	shape := w.shapes[name]
	scale := 1.0
	for _, n := range shape[min(1, len(shape)):] {
		scale /= float64(n)
	}
	return func(dst []float32) error {
		for i := range dst {
			dst[i] = float32(w.stream.Uniform(-1, 1) * max(scale, 1e-3))
		}
		return nil
	}, nil
}
