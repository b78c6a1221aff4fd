package simd

import (
	"math/rand/v2"
	"testing"
)

// randomTable has entries of every sort: short, with values aside, and none.
func randomTable(r *rand.Rand) *HuffmanTable {
	var table HuffmanTable
	for i := range table {
		advance := uint32(1 + r.IntN(16))
		if r.IntN(30) == 0 {
			advance = 128
		}
		switch r.IntN(8) {
		case 0:
			table[i] = advance<<8 | uint32(1+r.IntN(LookBits))<<16 | uint32(1+r.IntN(15))<<24
		case 1:
			table[i] = uint32(r.IntN(9)/8) << 8 // none
		default:
			table[i] = uint32(1+r.IntN(LookBits)) | advance<<8 | r.Uint32()<<16
		}
	}
	return &table
}

func TestHuffmanRun_EveryLevelAsTheGoTwin(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for trial := range 400 {
			table, from := randomTable(r), randomBytes(t, r, RunBytes+trial%3) // ends at a page that faults
			got := Bits{From: from, Next: trial % 3, Acc: r.Uint64(), N: uint64(r.IntN(64))}
			got.Acc &= ^(1<<(64-got.N) - 1)
			want := got
			var coefs, wantCoefs [64]int16
			k := 1 + r.IntN(63)
			next, wantNext := l.HuffmanRun(&got, table, &coefs, k), huffmanRunGeneric(&want, table, &wantCoefs, k)
			if next != wantNext || coefs != wantCoefs || got.Next != want.Next || got.Acc != want.Acc || got.N != want.N {
				t.Fatalf("from %d: coefficient %d, byte %d, %d bits; want %d, %d and %d", k, next, got.Next, got.N, wantNext,
					want.Next, want.N)
			}
		}
	})
}

// A table of one-bit codes: 0 for a value of three bits, 1 for the end of the block.
func TestHuffmanRun_WritesInZigzagOrder(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		var table HuffmanTable
		for i := range table {
			if i < len(table)/2 {
				table[i] = 2<<8 | 1<<16 | 3<<24 // a coefficient, then one that is zero
			} else {
				table[i] = 1 | 128<<8
			}
		}
		from := make([]uint8, RunBytes)
		from[0], from[1] = 0b0_101_0_011, 0b1_0000000
		var coefs [64]int16
		b := Bits{From: from}
		if k := l.HuffmanRun(&b, &table, &coefs, 1); k < 64 || 8*b.Next-int(b.N) != 9 {
			t.Errorf("stopped at coefficient %d after %d bits", k, 8*b.Next-int(b.N))
		}
		// Advancing by 2 writes coefficients 2 and 4: in zigzag order the first of row 1, the second of it.
		if want := ([64]int16{8: 5, 9: -4}); coefs != want {
			t.Errorf("%v", coefs)
		}
	})
}

func TestZigZag_IsTheOrderOfTheStandard(t *testing.T) {
	order := ZigZag()
	seen := map[uint8]bool{}
	for k := 1; k <= 64; k++ {
		seen[order[k]] = true
		if k > 1 { // neighbours along a diagonal, or along the edge
			dx, dy := int(order[k]%8)-int(order[k-1]%8), int(order[k]/8)-int(order[k-1]/8)
			if dx*dx+dy*dy > 2 {
				t.Errorf("from %d to %d", order[k-1], order[k])
			}
		}
	}
	if len(seen) != 64 || order[2] != 1 || order[3] != 8 || order[64] != 63 || order[65] != 63 || order[255] != 63 {
		t.Errorf("%v", order)
	}
}

func TestHuffmanRun_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		var table HuffmanTable
		var coefs [64]int16
		refuses(t, map[string]func(){
			"few bytes":         func() { l.HuffmanRun(&Bits{From: make([]uint8, RunBytes-1)}, &table, &coefs, 1) },
			"bytes passed":      func() { l.HuffmanRun(&Bits{From: make([]uint8, RunBytes), Next: 1}, &table, &coefs, 1) },
			"more bits than 63": func() { l.HuffmanRun(&Bits{From: make([]uint8, RunBytes), N: 64}, &table, &coefs, 1) },
			"mean":              func() { l.HuffmanRun(&Bits{From: make([]uint8, RunBytes)}, &table, &coefs, 0) },
		})
	})
}
