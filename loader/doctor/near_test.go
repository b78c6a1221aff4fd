package doctor

import (
	"fmt"
	"slices"
	"testing"

	"nmn/loader/alike"
)

// Copies of the same bytes, and frames of one clip, are no near-duplicates.
func TestEachNear_OfOtherBagsAndOtherBytes(t *testing.T) {
	one := func(split uint8, bag int32, down uint64, content byte) look {
		return look{split: split, bag: bag, sign: alike.Signature{Across: 0x123456789abcdef0, Down: down},
			content: [16]byte{content}}
	}
	looks := []look{one(1, 0, 1, 1), one(0, 2, 2, 2), one(0, 0, 4, 3), one(0, 2, 8, 4), one(0, 1, 16, 3),
		one(0, 3, ^uint64(0), 5)}
	var got []string
	eachNear(looks, func(a, b look) { got = append(got, fmt.Sprint(a.split, a.bag, b.split, b.bag)) })
	slices.Sort(got)
	want := []string{"0 0 0 2", "0 0 0 2", "0 0 1 0", "0 1 0 2", "0 1 0 2", "0 1 1 0", "0 2 1 0", "0 2 1 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
