package measure

import (
	"cmp"
	"fmt"
	"slices"

	"gorgonia.org/tensor"

	"nmn/format/safetensors"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/model/vit"
	"nmn/run"
)

// FeatureFigures are measurements of computing the features of pictures.
type FeatureFigures struct {
	Model string `json:"model"`
	Batch int    `json:"batch"` // pictures
	Size  int    `json:"size"`  // pixels
	Setting
	ImageMS       float64 `json:"image_ms"`               // of a picture, by the median of the batches
	ImageCPUMS    float64 `json:"image_cpu_ms,omitempty"` // mean, of all processors; 0 if the system does not report it
	ImagesPerS    float64 `json:"images_per_s"`
	PeakMemoryMiB float64 `json:"peak_memory_mib"`   // of the process
	DeviceMiB     float64 `json:"device_memory_mib"` // weights and buffers
}

// Transformer is a vision transformer that is measured, with the batches that it gets.
type Transformer struct {
	Name  run.NetName
	Batch int // pictures
	Size  int // height and width of the input in pixels; 0 for that of its weights
}

// Validate refuses input that the transformer cannot take.
func (t Transformer) Validate() error {
	c, _, err := t.recognise(newRandomWeights(t.Name))
	if err != nil {
		return err
	}
	return c.Validate()
}

func (t Transformer) recognise(weights *randomWeights) (vit.Config, *vit.Mapping, error) {
	c, mapping, err := vit.Recognise(weights)
	if err != nil {
		return c, nil, fmt.Errorf("bench: %s: %w", t.Name, err)
	}
	if t.Size > 0 {
		c = c.WithSize(t.Size)
	}
	return c, mapping, nil
}

// Features measures how long a vision transformer with random weights takes for the class token of random pictures:
// upload, forward, download.
func Features(backend kernels.Backend, t Transformer, o Options) (f *FeatureFigures, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	weights := newRandomWeights(t.Name)
	c, mapping, err := t.recognise(weights)
	if err != nil {
		return nil, err
	}
	net, err := vit.New(c, backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if err := net.Load(weights, mapping); err != nil {
		return nil, err
	}
	width, err := c.LayerWidth(vit.Class)
	if err != nil {
		return nil, err
	}
	pictures, layers, rows := randomPixels(t.Batch, c.Size), []vit.Layer{vit.Class},
		[][]float32{make([]float32, t.Batch*width)}
	runs := 0
	began := processorTime()
	took, err := o.medianOf(backend, func() error {
		if runs++; runs == o.Warmup+1 {
			began = processorTime()
		}
		return net.Features(pictures, layers, rows)
	})
	if err != nil {
		return nil, err
	}
	spent := processorTime() - began
	f = &FeatureFigures{Model: string(t.Name), Batch: t.Batch, Size: c.Size[0], Setting: settingOf(backend, o)}
	f.ImageMS, f.ImagesPerS = milliseconds(took)/float64(t.Batch), rate(float64(t.Batch), took)
	f.ImageCPUMS = milliseconds(spent) / float64(t.Batch*o.Repeats)
	f.PeakMemoryMiB = mebibytes(peakMemory())
	f.DeviceMiB = mebibytes(uint64(net.Bytes()))
	return f, nil
}

func randomPixels(pictures int, size [2]int) *tensor.Dense {
	values, stream := make([]uint8, pictures*size[0]*size[1]*3), rng.New(2)
	for i := range values {
		values[i] = uint8(stream.Uint64())
	}
	return tensor.New(tensor.WithShape(pictures, size[0], size[1], 3), tensor.WithBacking(values))
}

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

// Elements implements param.Source: numbers from -1 to 1, scaled by the number of summands, keep the tokens finite.
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
