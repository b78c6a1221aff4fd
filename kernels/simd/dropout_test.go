package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"nmn/internal/rng"
)

func TestMaskWords_AreThoseOfTheGenerator(t *testing.T) {
	stream := rng.New(8)
	for range 100 {
		counter, row, key := stream.Uint32(), stream.Uint32(), [2]uint32{stream.Uint32(), stream.Uint32()}
		var words maskWords
		words.fill(counter, row, key)
		first, second := rng.Block([4]uint32{counter, row}, key), rng.Block([4]uint32{counter + 1, row}, key)
		if [4]uint32(words[:4]) != first || [4]uint32(words[4:]) != second {
			t.Fatalf("counter %d, row %d, key %v: %v, want %v %v", counter, row, key, words, first, second)
		}
	}
}

func TestDrop_MaskIsThatOfTheGenerator(t *testing.T) {
	lengths := append([]int{127, 128, 129, 500}, sizes...)
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range lengths {
			for _, counter := range []uint32{0, 4096, math.MaxUint32 - 5} {
				for _, threshold := range []uint32{0, 1, 1 << 31, math.MaxUint32} {
					p := Dropout{Counter: counter, Row: r.Uint32(), Seed: [2]uint32{r.Uint32(), r.Uint32()}, Threshold: threshold,
						Scale: 1.25}
					checkDrop(t, l, random(t, r, n), random(t, r, n), p)
				}
			}
		}
	})
}

func checkDrop(t *testing.T, l Level, dst, src []float32, p Dropout) {
	t.Helper()
	if len(src) > 2 {
		src[0], src[len(src)-1] = nan, -inf
	}
	want := make([]float32, len(src))
	for i, v := range src {
		if rng.Block([4]uint32{p.Counter + uint32(i/4), p.Row}, p.Seed)[i%4] >= p.Threshold {
			want[i] = v * p.Scale
		}
	}
	l.Drop(dst, src, p)
	l.Drop(src, src, p)
	for i, v := range want {
		for _, got := range []float32{dst[i], src[i]} {
			if math.Float32bits(got) != math.Float32bits(v) {
				t.Fatalf("%s: element %d of %d, %+v: got %g, want %g", l, i, len(want), p, got, v)
			}
		}
	}
}

func TestDrop_RefusesSlicesThatAreTooShort(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		if !panics(func() { l.Drop(make([]float32, 65), make([]float32, 64), Dropout{}) }) {
			t.Error("accepted")
		}
	})
}
