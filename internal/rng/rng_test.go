package rng

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The known answers published with Random123 for philox4x32, 10 rounds.
func TestBlock_KnownAnswers(t *testing.T) {
	ones := uint32(0xffffffff)
	cases := []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	}
	for _, c := range cases {
		if got := Block(c.counter, c.key); got != c.want {
			t.Errorf("Block(%x, %x) = %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

func TestStream_DependsOnSeedAndIndicesAlone(t *testing.T) {
	a, b := New(7, 1, 2), New(7, 1, 2)
	for range 9 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("equal streams differ")
		}
	}
	first := map[uint64]bool{}
	for _, s := range []Stream{New(7, 1, 2), New(8, 1, 2), New(7, 2, 1), New(7, 1), New(7, 1, 2, 1),
		New(Derive(7, "a"), 1, 2), New(Derive(7, "b"), 1, 2)} {
		first[s.Uint64()] = true
	}
	if len(first) != 7 {
		t.Errorf("7 streams start with only %d different numbers", len(first))
	}
}

func TestStream_Moments(t *testing.T) {
	s := New(1)
	const n = 200000
	var uniform, normal, square float64
	counts := [3]int{}
	for range n {
		uniform += s.Float64()
		x := s.Normal(2, 3)
		normal += x
		square += (x - 2) * (x - 2)
		counts[s.Choice([]float64{1, 0, 3})]++
	}
	if math.Abs(uniform/n-.5) > .003 || math.Abs(normal/n-2) > .03 || math.Abs(square/n-9) > .15 {
		t.Errorf("means %.4f %.4f, variance %.3f; want .5, 2, 9", uniform/n, normal/n, square/n)
	}
	if counts[1] != 0 || math.Abs(float64(counts[0])/n-.25) > .005 {
		t.Errorf("choice counts %v, want a quarter, none, three quarters", counts)
	}
}

func TestStream_IsARandSource(t *testing.T) {
	s := New(5)
	if x := rand.New(&s).IntN(10); x < 0 || x > 9 {
		t.Errorf("IntN(10) = %d", x)
	}
}

// The rest of a block is drawn before the next block.
func TestStream_AfterIsWhereDrawingLeads(t *testing.T) {
	for drawn := range 6 {
		for further := range 14 {
			s := New(5, 1, 2)
			for range drawn {
				s.Uint32()
			}
			ahead := s.After(further)
			for range further {
				s.Uint32()
			}
			for range 5 {
				if got, want := ahead.Uint32(), s.Uint32(); got != want {
					t.Fatalf("%d words drawn, %d further: %d, want %d", drawn, further, got, want)
				}
			}
		}
	}
}

func TestNormals_AreThoseOfNormal(t *testing.T) {
	for _, n := range []int{0, 1, 1023, 1024, 100_000} {
		one, all := New(3, n), New(3, n)
		one.Uint32()
		all.Uint32() // so that no number begins at the start of a block
		got := make([]float32, n)
		all.Normals(got, 2, .5)
		for i, x := range got {
			if want := float32(one.Normal(2, .5)); x != want {
				t.Fatalf("number %d of %d is %v, want %v", i, n, x, want)
			}
		}
		if one != all {
			t.Errorf("after %d numbers the stream is elsewhere", n)
		}
	}
}

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
