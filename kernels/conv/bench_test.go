package conv

import (
	"fmt"
	"testing"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// layer is a convolution of a published net, for one picture.
type layer struct {
	name  string
	batch int
	shape
}

// layers are the layers of VGG16 at 224×224 and of the small net for 48×48 scenes.
var layers = []layer{
	{"conv1_1", 4, shape{0, 224, 224, 3, 64, 3, 3, 1, 1}},
	{"conv1_2", 4, shape{0, 224, 224, 64, 64, 3, 3, 1, 1}},
	{"conv2_1", 4, shape{0, 112, 112, 64, 128, 3, 3, 1, 1}},
	{"conv2_2", 4, shape{0, 112, 112, 128, 128, 3, 3, 1, 1}},
	{"conv3_1", 4, shape{0, 56, 56, 128, 256, 3, 3, 1, 1}},
	{"conv3_2", 4, shape{0, 56, 56, 256, 256, 3, 3, 1, 1}},
	{"conv4_1", 4, shape{0, 28, 28, 256, 512, 3, 3, 1, 1}},
	{"conv4_2", 4, shape{0, 28, 28, 512, 512, 3, 3, 1, 1}},
	{"conv5_1", 4, shape{0, 14, 14, 512, 512, 3, 3, 1, 1}},
	{"fc6", 4, shape{0, 7, 7, 512, 4096, 7, 7, 0, 1}},
	{"fc7", 4, shape{0, 1, 1, 4096, 4096, 1, 1, 0, 1}},
	{"scenes1", 32, shape{0, 48, 48, 3, 16, 3, 3, 1, 1}},
	{"scenes2", 32, shape{0, 24, 24, 16, 32, 3, 3, 1, 1}},
	{"scenes3", 32, shape{0, 12, 12, 32, 64, 3, 3, 1, 1}},
	{"scenes4", 32, shape{0, 6, 6, 64, 128, 3, 3, 1, 1}},
	{"scenes5", 32, shape{0, 6, 6, 128, 256, 3, 3, 0, 1}},
	{"scenes5small", 32, shape{0, 3, 3, 128, 256, 3, 3, 0, 1}},
	{"scenes6", 32, shape{0, 4, 4, 256, 256, 1, 1, 0, 1}},
	{"scenes7", 32, shape{0, 4, 4, 256, 36, 1, 1, 0, 1}},
}

// flop counts the operations of one pass over l.batch pictures, without padding.
func (l layer) flop() float64 {
	p, q := l.out()
	taps := func(size, filter, out int) (n int) {
		for o := range out {
			for f := range filter {
				if i := o + f - l.pad; i >= 0 && i < size {
					n++
				}
			}
		}
		return n
	}
	return 2 * float64(l.batch) * float64(taps(l.h, l.r, p)*taps(l.shape.w, l.s, q)) * float64(l.c*l.k)
}

// BenchmarkConv measures each layer on two threads.
func BenchmarkConv(b *testing.B) {
	for _, l := range layers {
		for _, pass := range []string{"forward", "data", "filter", "bias"} {
			for _, level := range simd.Levels() {
				name := fmt.Sprintf("layer=%s/batch=%d/pass=%s/simd=%s", l.name, l.batch, pass, level)
				b.Run(name, func(b *testing.B) { benchmark(b, l, pass, level) })
			}
		}
	}
}

func benchmark(b *testing.B, l layer, pass string, level simd.Level) {
	dev := tensor.NewCPU(2, level.String())
	defer dev.Close()
	c := NewCPU(dev, level, false)
	s := l.shape
	s.n = l.batch
	x, w, bias, y := newProblem(s).tensors(b)
	dx, dw := of(b, make([]float32, x.Len()), x.Shape()...), of(b, make([]float32, w.Len()), w.Shape()...)
	ops := map[string]func() error{
		"forward": func() error { return c.Conv(y, x, w, bias, Params{Pad: s.pad, Stride: s.stride, ReLU: true}) },
		"data":    func() error { return c.ConvGradData(dx, y, w, x, Params{Pad: s.pad, Stride: s.stride}) },
		"filter":  func() error { return c.ConvGradFilter(dw, x, y, Params{Pad: s.pad, Stride: s.stride}) },
		"bias":    func() error { return c.ConvGradBias(bias, y, Params{}) },
	}
	op := ops[pass]
	must(b, op())
	b.ReportAllocs()
	for b.Loop() {
		must(b, op())
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	if pass == "bias" {
		b.ReportMetric(float64(y.Bytes())/seconds/1e9, "GB/s")
		return
	}
	b.ReportMetric(l.flop()/seconds/1e9, "GFLOP/s")
}
