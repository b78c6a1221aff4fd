package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNormalize_EqualsItsDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, pixels := range sizes {
			for _, channels := range []int{3, 4, 5} {
				for _, mirrored := range []bool{false, true} {
					n := Normalization{Mean: [3]float32{1.5, 200, 77.7}, Scale: [3]float32{1, .25, 1 / 57.375}, Channels: channels,
						Mirrored: mirrored}
					// The row begins, and another ends, at memory that faults.
					src := randomBytes(t, r, 3*pixels)
					checkNormalize(t, l, src, &n)
					front := fencedFront(t, 3*pixels)
					copy(front, src)
					checkNormalize(t, l, front, &n)
				}
			}
		}
	})
}

func checkNormalize(t *testing.T, l Level, src []uint8, n *Normalization) {
	t.Helper()
	pixels := len(src) / 3
	dst := fenced(t, pixels*n.Channels)
	l.Normalize(dst, src, n)
	for at, got := range dst {
		pixel, c, want := at/n.Channels, at%n.Channels, float32(0)
		if n.Mirrored {
			pixel = pixels - 1 - pixel
		}
		if c < 3 {
			want = (float32(src[3*pixel+c]) - n.Mean[c]) * n.Scale[c]
		}
		if got != want {
			t.Fatalf("%d pixels of %d channels, mirrored %t: value %d is %g, want %g", pixels, n.Channels, n.Mirrored,
				at, got, want)
		}
	}
}

func TestNormalize_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		refuses(t, map[string]func(){
			"two channels": func() { l.Normalize(make([]float32, 20), make([]uint8, 30), &Normalization{Channels: 2}) },
			"short":        func() { l.Normalize(make([]float32, 29), make([]uint8, 30), &Normalization{Channels: 3}) },
			"cut pixel":    func() { l.Normalize(make([]float32, 30), make([]uint8, 31), &Normalization{Channels: 3}) },
		})
	})
}

func FuzzPixels(f *testing.F) {
	f.Add([]byte{0, 255, 128, 1, 2, 3}, float32(123.68), float32(1), true)
	f.Add(make([]byte, 90), float32(-1), float32(.25), false)
	f.Fuzz(func(t *testing.T, data []byte, mean, scale float32, mirrored bool) {
		pixels := len(data) / 3
		src := fencedBytes(t, 3*pixels)
		copy(src, data)
		n := Normalization{Mean: [3]float32{mean, -mean, 0}, Scale: [3]float32{scale, 1, scale}, Channels: 3,
			Mirrored: mirrored}
		floats, bytes := make([]float32, 3*pixels), make([]uint8, 3*pixels)
		Generic.Normalize(floats, src, &n)
		Generic.YCbCr(bytes, src[:pixels], src[pixels:2*pixels], src[2*pixels:])
		for _, l := range Levels() {
			gotFloats, gotBytes := fenced(t, 3*pixels), fencedBytes(t, 3*pixels)
			l.Normalize(gotFloats, src, &n)
			l.YCbCr(gotBytes, src[:pixels], src[pixels:2*pixels], src[2*pixels:])
			same(t, "normalize", gotFloats, floats)
			if !slices.Equal(gotBytes, bytes) {
				t.Fatalf("%s: other colours than the Go twin", l)
			}
		}
	})
}

// BenchmarkNormalize measures one thread on a row that stays in the first-level cache.
func BenchmarkNormalize(b *testing.B) {
	for _, l := range Levels() {
		for _, mirrored := range []bool{false, true} {
			b.Run(fmt.Sprintf("pixels=224/mirrored=%t/simd=%s", mirrored, l), func(b *testing.B) {
				dst, src := make([]float32, 3*224), make([]uint8, 3*224)
				n := Normalization{Mean: [3]float32{1, 2, 3}, Scale: [3]float32{1, 1, 1}, Channels: 3, Mirrored: mirrored}
				b.SetBytes(int64(5 * len(src)))
				for b.Loop() {
					l.Normalize(dst, src, &n)
				}
			})
		}
	}
}
