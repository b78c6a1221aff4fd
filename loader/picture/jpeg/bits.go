package jpeg

import (
	"bytes"

	"nmn/kernels/simd"
)

const (
	// mostBlock is more than the bytes that a block makes a reader load: 64 codes and values of up to 31
	// bits, and what simd.HuffmanRun asks for.
	mostBlock = 264 + simd.RunBytes
	// slack is the number of zeros after the coded bytes. A reader loads up to eight bytes ahead.
	slack = mostBlock + 8
)

// entropy holds the coded bytes of a scan without stuffing. Its last interval is followed by slack zeros.
type entropy struct {
	bytes     []byte
	ends      []int // ends of the restart intervals
	intervals int   // passed
	bitReader
}

// bitReader takes bits from the front of bytes.
type bitReader struct{ simd.Bits }

// taken is the position of the next bit.
func (r *bitReader) taken() int { return 8*r.Next - int(r.N) }

// spent reports whether a block may run over the slack: all coded bytes were taken before.
func (r *bitReader) spent() bool { return len(r.From)-r.Next < mostBlock }

// bits takes n bits, at most 16, that Fill has made ready.
func (r *bitReader) bits(n int) uint32 {
	v := uint32(r.Acc >> 48 >> (16 - n))
	r.Acc, r.N = r.Acc<<n, r.N-uint64(n)
	return v
}

// symbol takes a code, which Fill has made ready. If there is no valid code, it takes 17 bits and returns 0,
// and ok is false.
func (r *bitReader) symbol(h *huffman) (symbol uint8, ok bool) {
	symbol, length := h.find(uint32(r.Acc >> 48))
	r.Acc, r.N = r.Acc<<length, r.N-uint64(length)
	return symbol, length <= maxCode
}

// load takes the coded data at the front of data, up to the marker that ends it, and returns its length.
// Restart markers end intervals if restarts is set.
func (e *entropy) load(data []byte, restarts bool) int {
	e.bytes, e.ends, e.intervals = e.bytes[:0], e.ends[:0], 0
	at := 0
	for at < len(data) {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 {
			e.bytes = append(e.bytes, data[at:]...)
			at = len(data)
			break
		}
		e.bytes = append(e.bytes, data[at:at+i]...)
		at += i
		code := at + 1
		for code < len(data) && data[code] == 0xff { // fill bytes before a marker
			code++
		}
		if code == at+1 && code < len(data) && data[code] == 0 {
			e.bytes = append(e.bytes, 0xff)
		} else if restarts && code < len(data) && data[code] == rst0+uint8(len(e.ends)&7) {
			e.ends = append(e.ends, len(e.bytes))
		} else {
			break
		}
		at = code + 1
	}
	e.ends = append(e.ends, len(e.bytes))
	e.bytes = append(e.bytes, zeros[:]...)
	e.bitReader = bitReader{simd.Bits{From: e.bytes}}
	return at
}

var zeros [slack]byte

// overrun reports whether more bits were taken than the interval has.
func (e *entropy) overrun() bool { return e.taken() > 8*e.ends[e.intervals] }

// restart goes on to the next interval, and returns false if there is none.
func (e *entropy) restart() bool {
	if e.intervals+1 >= len(e.ends) {
		return false
	}
	e.bitReader = bitReader{simd.Bits{From: e.bytes, Next: e.ends[e.intervals]}}
	e.intervals++
	return true
}
