package augment

import (
	"testing"

	"nmn/loader/picture"
)

// BenchmarkOperations measures each operation on a picture of 224×224 pixels.
func BenchmarkOperations(b *testing.B) {
	const size = 224
	w := NewWorker(NewDraws(Config{Erasing: ErasingConfig{Probability: 1, Area: Range{.2, .2}, Value: FillNoise}}, 1),
		fill)
	canvas, other, line := noisy(size), noisy(size), []uint8(nil)
	v := view{canvas, 3 * size, size, size}
	measure := func(name string, change func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(3 * size * size)
			b.ReportAllocs()
			change()
			for b.Loop() {
				change()
			}
		})
	}
	for op := range Op(len(randOperations)) {
		step := Step{op, op.strength(9, false, size, size)}
		measure(op.String(), func() { w.apply(&v, step) })
	}
	copy(canvas, noisy(size))
	measure("Hue", func() { hue(&v, .05) })
	measure("Erase", func() { w.erase(v.part(Rect{20, 20, 100, 100}), Place{}) })
	measure("Mix", func() {
		to, from := Frame{canvas, size, size, size}, Frame{other, size, size, size}
		Mix(&to, &from, 100, false, fill, &line)
	})
	measure("MixMirrored", func() {
		to, from := Frame{canvas, size, size, size}, Frame{other, size, size, size}
		Mix(&to, &from, 100, true, fill, &line)
	})
}

// BenchmarkCut measures the crop of a picture of 640×480 pixels to a quarter.
func BenchmarkCut(b *testing.B) {
	var pic picture.Picture
	pic.Resize(640, 480)
	b.SetBytes(3 * 320 * 240)
	b.ReportAllocs()
	for b.Loop() {
		pic.Resize(640, 480)
		cut(&pic, Rect{100, 100, 320, 240})
	}
}
