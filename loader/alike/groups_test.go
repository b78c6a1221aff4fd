package alike

import (
	"fmt"
	"math/bits"
	"testing"

	"nmn/internal/rng"
)

// signed are looks that differ in their content, with these bits across.
func signed(across ...uint64) []Look {
	looks := make([]Look, len(across))
	for i, a := range across {
		looks[i] = Look{Content: [16]byte{byte(i), byte(i >> 8)}, Sign: Signature{Across: a}, Read: true, Signed: true}
	}
	return looks
}

func TestGroups_JoinCopiesAndWhatLooksAlike(t *testing.T) {
	far := uint64(0xffff) << 20
	looks := signed(0, far, 3, 1<<50, far|1, 0xffff<<40)
	looks = append(looks, Look{Content: looks[5].Content, Read: true}, Look{}, Look{}) // a copy, too plain; two unreadable
	groups, split := Groups(looks, 4)
	if got := fmt.Sprint(groups); got != "[[0 2 3] [1 4] [5 6]]" || split != 0 {
		t.Errorf("groups %s, %d split", got, split)
	}
	if groups, split := Groups(nil, 4); groups != nil || split != 0 {
		t.Errorf("of nothing: %v, %d", groups, split)
	}
}

// A chain in which neighbours differ in 2 bits, and at every fifth step in 5, is cut at the long steps.
func TestGroups_ChainsAreCutWhereTheyAreLoose(t *testing.T) {
	var chain []uint64
	across := uint64(0)
	for i := range 15 {
		chain = append(chain, across)
		step := 2
		if i%5 == 4 {
			step = 5
		}
		across |= (1<<step - 1) << bits.OnesCount64(across)
	}
	groups, split := Groups(signed(chain...), 7)
	if got := fmt.Sprint(groups); got != "[[0 1 2 3 4] [5 6 7 8 9] [10 11 12 13 14]]" || split != 1 {
		t.Errorf("groups %s, %d split", got, split)
	}
}

func TestGroups_ManyCopiesAreCutInPieces(t *testing.T) {
	looks := signed(make([]uint64, 1000)...)
	for i := range looks {
		looks[i].Content = [16]byte{1}
		looks[i].Signed = i%2 == 0
	}
	groups, split := Groups(looks, 60)
	together := 0
	for _, g := range groups {
		if together += len(g); len(g) > 60 {
			t.Errorf("a group of %d", len(g))
		}
	}
	if split != 1 || together < 950 || len(groups) > 20 {
		t.Errorf("%d groups of %d, %d split", len(groups), together, split)
	}
	if groups, split := Groups(looks, 1); len(groups) != 0 || split != 1 {
		t.Errorf("none may be together: %v, %d", groups, split)
	}
}

// BenchmarkGroups groups pictures and frames. A quarter of the pictures repeat another with two bits
// flipped, and nearly all frames look alike.
func BenchmarkGroups(b *testing.B) {
	const n = 80_000
	for _, scenes := range []uint32{n, 20} {
		stream := rng.New(1)
		word := func() uint64 { return uint64(stream.Uint32())<<32 | uint64(stream.Uint32()) }
		looks := signed(make([]uint64, n)...)
		for i := range looks {
			looks[i].Content[2] = byte(i >> 16)
			looks[i].Sign = Signature{word(), word()}
			if i > 0 && i%4 == 0 || uint32(i) >= scenes {
				looks[i].Sign = looks[stream.Uint32()%min(uint32(i), scenes)].Sign
				looks[i].Sign.Across ^= 1 << (stream.Uint32() % 64)
				looks[i].Sign.Down ^= 1 << (stream.Uint32() % 64)
			}
		}
		b.Run(fmt.Sprintf("pictures=%d/scenes=%d", n, scenes), func(b *testing.B) {
			for b.Loop() {
				Groups(looks, n/10)
			}
		})
	}
}
