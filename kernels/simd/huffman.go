package simd

import (
	"encoding/binary"
	"fmt"
)

// Bits takes bits from the front of bytes: the next are the uppermost N of Acc, which is filled from byte
// Next on.
type Bits struct {
	From []byte
	Next int
	Acc  uint64
	N    uint64 // at most 63
}

// Fill makes at least 56 bits ready. Eight bytes must be there.
func (b *Bits) Fill() {
	b.Acc |= binary.BigEndian.Uint64(b.From[b.Next:]) >> b.N
	b.Next += int(63-b.N) >> 3
	b.N |= 56
}

const (
	// LookBits is the number of bits that find an entry of a HuffmanTable.
	LookBits = 11
	// RunBytes is the number of bytes that HuffmanRun needs, from Next on.
	RunBytes = 512
)

// HuffmanTable decodes the next LookBits bits of a block of JPEG coefficients. Bits 0 to 5 are the number of
// bits of a coefficient, code and value. Bits 8 to 15 are the distance to the next coefficient in zigzag
// order, at least 1. Bits 16 to 31 are its value. If bits 0 to 5 are 0, the value is longer: bits 16 to 23
// are the length of its code and bits 24 to 31 the length of its value, both at most 16. If the length of the
// code is also 0, the code is longer than the table covers.
type HuffmanTable [1 << LookBits]uint32

// zigZag[k+1] is the place within a block, row by row, of coefficient k in zigzag order. Places after the end
// of a block are the last place.
var zigZag = func() (order [256]uint8) {
	for i := range order {
		order[i] = 63
	}
	x, y, dx := 0, 0, 1 // along the diagonals
	for k := range 64 {
		order[k+1] = uint8(8*y + x)
		switch nx, ny := x+dx, y-dx; {
		case nx > 7:
			y, dx = y+1, -dx
		case ny > 7:
			x, dx = x+1, -dx
		case ny < 0:
			x, dx = nx, -dx
		case nx < 0:
			y, dx = ny, -dx
		default:
			x, y = nx, ny
		}
	}
	return order
}()

// ZigZag returns the place within a block, row by row, of the coefficient before each index in zigzag order:
// element k+1 belongs to coefficient k. Elements after the end of a block have the last place.
func ZigZag() [256]uint8 { return zigZag }

// HuffmanRun reads coefficients of a block from number k on, at least 1, and writes them, until the block is
// full or the table does not have the next one. It returns the number of the next one, 64 or more if the
// block is full. If it is not, at least 32 bits are ready then. Results are equal at all levels.
func (l Level) HuffmanRun(b *Bits, codes *HuffmanTable, coefs *[64]int16, k int) int {
	if b.Next < 0 || len(b.From)-b.Next < RunBytes || b.N > 63 || k < 1 {
		panic(fmt.Sprintf("simd: coefficients from %d on out of %d bytes from %d on, %d bits ready", k, len(b.From),
			b.Next, b.N))
	}
	if k > 63 {
		return k
	}
	run := table[l].huffmanRun
	if run == nil {
		return huffmanRunGeneric(b, codes, coefs, k)
	}
	b.Next, b.Acc, b.N, k = run(at(b.From), b.Next, b.Acc, b.N, &codes[0], &coefs[0], &zigZag[0], k)
	return k
}

func huffmanRunGeneric(b *Bits, table *HuffmanTable, coefs *[64]int16, k int) int {
	from, next, acc, n := b.From, b.Next, b.Acc, b.N
	for {
		if n < 32 {
			acc |= binary.BigEndian.Uint64(from[next:]) >> (n & 63)
			next += int(63-n) >> 3
			n |= 56
		}
		e := table[acc>>(64-LookBits)]
		length, value := e&63, int16(e>>16)
		if length == 0 {
			code, own := e>>16&255, e>>24&63
			if code == 0 {
				break
			}
			bits := acc << (code & 63) >> (64 - own)
			if value = int16(bits); bits>>(own-1) == 0 {
				value -= 1<<own - 1 // one that begins with 0 is negative
			}
			length = code + own
		}
		acc, n = acc<<(length&63), n-uint64(length)
		k += int(uint8(e >> 8))
		coefs[zigZag[uint8(k)]&63] = value
		if k > 63 {
			break
		}
	}
	b.Next, b.Acc, b.N = next, acc, n
	return k
}
