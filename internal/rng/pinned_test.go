package rng

import (
	"math"
	"slices"
	"testing"
)

// A resumed run, or one repeated by a later version of the program, draws equal numbers: these must never
// change.
func TestDraws_AreThoseOfEarlierVersions(t *testing.T) {
	const seed = 1<<40 | 7
	for got, want := range map[uint64]uint64{
		Derive(7, "noise"): 0xf85993876461cd7d, Derive(seed, "noise"): 0xec4e49d16b8bb956,
	} {
		if got != want {
			t.Errorf("Derive gives %#x, want %#x", got, want)
		}
	}
	s := New(seed, 1, 2, 3)
	if a, b := s.Uint32(), s.Uint64(); a != 0xade352c2 || b != 0x985a8f20702bbe65 {
		t.Errorf("bits %#x and %#x", a, b)
	}
	if u, v := s.Float64(), s.Uniform(-1, 3); u != 0.022847096141145884 || math.Abs(v+0.5442181195291522) > 1e-12 {
		t.Errorf("uniform numbers %v and %v", u, v)
	}
	if n, x := s.Intn(1000), s.Normal(2, 3); n != 181 || math.Abs(x-8.400124674984205) > 1e-12 {
		t.Errorf("an integer %d, a normal number %v", n, x)
	}
	if i := s.Choice([]float64{1, 2, 3, 4}); i != 0 {
		t.Errorf("choice %d", i)
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}
	s.Shuffle(order)
	if !slices.Equal(order, []int{4, 2, 5, 3, 7, 1, 0, 6}) {
		t.Errorf("order %d", order)
	}
	var at []int
	for p, i := NewPermutation(seed, 10, 1, 2), 0; i < 10; i++ {
		at = append(at, p.At(i))
	}
	if !slices.Equal(at, []int{0, 4, 3, 6, 1, 7, 5, 8, 2, 9}) {
		t.Errorf("permutation %d", at)
	}
	if p := NewPermutation(seed, 1000, 1, 2); p.At(0) != 57 || p.At(999) != 228 || p.Position(500) != 310 {
		t.Errorf("permutation of 1000: %d ... %d, 500 at %d", p.At(0), p.At(999), p.Position(500))
	}
}

// Ranges are kept at their ends too.
func TestStream_StaysInItsRanges(t *testing.T) {
	s := New(11)
	counts := [3]int{}
	for range 3000 {
		if v := s.Uniform(-2, -1); v < -2 || v >= -1 {
			t.Fatalf("%v is not from -2 to -1", v)
		}
		counts[s.Intn(3)]++
	}
	if slices.Min(counts[:]) < 900 || s.Intn(1) != 0 {
		t.Errorf("of three numbers there are %d", counts)
	}
	for range 100 {
		if i := s.Choice([]float64{0, 1e-300, 0}); i != 1 {
			t.Fatalf("choice %d, which has no weight", i)
		}
	}
}

func TestIndices_AreNotMoreThanThereIsRoomFor(t *testing.T) {
	for name, f := range map[string]func(){
		"a stream of four indices":       func() { New(1, 1, 2, 3, 4) },
		"a permutation of three indices": func() { NewPermutation(1, 5, 1, 2, 3) },
		"a permutation of nothing":       func() { NewPermutation(1, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
