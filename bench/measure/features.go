package measure

import (
	"cmp"
	"fmt"

	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/model/vit"
	"nmn/run"

	"gorgonia.org/tensor"
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
