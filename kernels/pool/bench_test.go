package pool

import (
	"fmt"
	"testing"

	"nmn/tools/optest"
)

// Maps of VGG16 after the first and the fourth block of convolutions, and pool5 of a video. B/s counts bytes
// read and written once. BenchmarkCopy is the floor.
func BenchmarkMaxPool(b *testing.B) {
	for _, size := range [][4]int{{1, 224, 224, 64}, {4, 28, 28, 512}} {
		x := drawn(b, 1, size[:]...)
		y := optest.Floats(b, nil, size[0], size[1]/2, size[2]/2, size[3])
		dx := optest.Floats(b, nil, size[:]...)
		c := newTestCPU(b, 0)
		b.Run(fmt.Sprintf("forward/map=%d/channels=%d", size[1], size[3]), func(b *testing.B) {
			run(b, x.Bytes()+y.Bytes(), func() error { return c.MaxPool(y, x) })
		})
		b.Run(fmt.Sprintf("gradient/map=%d/channels=%d", size[1], size[3]), func(b *testing.B) {
			run(b, 2*x.Bytes()+2*y.Bytes(), func() error { return c.MaxPoolGrad(dx, y, x, y, true) })
		})
	}
}

func BenchmarkBagPool(b *testing.B) {
	x, g, dx := drawn(b, 1, 26, 18, 18, 512), optest.Floats(b, nil, 1, 512), drawn(b, 2, 26, 18, 18, 512)
	bags := optest.Ints(b, 0, 26)
	c := newTestCPU(b, 0)
	for _, kind := range []Kind{Mean, Max} {
		b.Run("forward/kind="+kind.String(), func(b *testing.B) {
			run(b, x.Bytes(), func() error { return c.BagPool(g, x, bags, kind) })
		})
		b.Run("gradient/kind="+kind.String(), func(b *testing.B) {
			run(b, 2*x.Bytes(), func() error { return c.BagPoolGrad(dx, g, x, g, bags, kind, true) })
		})
	}
}

func BenchmarkCopy(b *testing.B) {
	from, to := make([]float32, 224*224*64), make([]float32, 224*224*64)
	run(b, 8*len(from), func() error { copy(to, from); return nil })
}

func run(b *testing.B, bytes int, f func() error) {
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMaxPool3 measures 3×3 maxima after the stem of a residual net, 8 pictures of 224 pixels.
func BenchmarkMaxPool3(b *testing.B) {
	x, y := drawn(b, 1, 8, 112, 112, 64), optest.Floats(b, nil, 8, 56, 56, 64)
	dy, dx := drawn(b, 2, 8, 56, 56, 64), optest.Floats(b, nil, 8, 112, 112, 64)
	c := newTestCPU(b, 0)
	b.Run("forward", func(b *testing.B) { run(b, x.Bytes()+y.Bytes(), func() error { return c.MaxPool3(y, x) }) })
	b.Run("gradient", func(b *testing.B) {
		run(b, 2*x.Bytes()+2*y.Bytes(), func() error { return c.MaxPool3Grad(dx, dy, x, y, true) })
	})
}
