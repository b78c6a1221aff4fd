package simd

import (
	"fmt"
	"math"
)

// tapBits is the precision of interpolation weights: a channel times a weight for each axis has 8 + 2·14
// bits.
const tapBits = 14

const one = 1 << tapBits

// Taps describes, for every position along an axis of a resized picture, which two positions of the source it
// lies between, and the weight of the second in units of 2^-14. Positions are pixel centres at half integers.
// Before the first and after the last centre the picture is constant.
//
// The zero value has no positions. Plan keeps its memory.
type Taps struct {
	from   int      // length of the source
	first  []int32  // in pixels, at most from-2 if there are two pixels
	bytes  []int32  // 3·first
	weight []uint32 // of the first below, of the second above 16 bits
	paired int      // number of first positions whose pixels are followed by two more bytes of the row
}

// Plan makes the taps for resizing from a length to another, both at least 1.
func (t *Taps) Plan(from, to int) {
	if from < 1 || to < 1 || from > math.MaxInt32/3 {
		panic(fmt.Sprintf("simd: taps from %d to %d", from, to))
	}
	if t.from == from && len(t.first) == to {
		return
	}
	if cap(t.first) < to {
		t.first, t.bytes, t.weight = make([]int32, to), make([]int32, to), make([]uint32, to)
	}
	t.from, t.first, t.bytes, t.weight, t.paired = from, t.first[:to], t.bytes[:to], t.weight[:to], 0
	scale := float64(from) / float64(to)
	for i := range to {
		at := max(0, float64(scale*(float64(i)+.5))-.5)
		// The last centre is the second of the last pair, of full weight.
		first := min(int(at), max(0, from-2))
		w := uint32(min(math.Round((at-float64(first))*one), one))
		t.first[i], t.bytes[i], t.weight[i] = int32(first), int32(3*first), one-w|w<<16
		if 3*first+8 <= 3*from {
			t.paired = i + 1
		}
	}
}

// Len is the number of positions.
func (t *Taps) Len() int { return len(t.first) }

// At returns the two source positions of position i, and the weight of the second.
func (t *Taps) At(i int) (first, second int, weight uint32) {
	first = int(t.first[i])
	return first, min(first+1, t.from-1), t.weight[i] >> 16
}

// ResampleRow interpolates a row of RGB along x, in units of 2^-14. src has the pixels that the taps were
// planned for. dst has Len pixels. Results are equal at all levels.
func (l Level) ResampleRow(dst []uint32, src []uint8, t *Taps) {
	if len(dst) != 3*t.Len() || len(src) != 3*t.from {
		panic(fmt.Sprintf("simd: a row of %d bytes to %d values, for taps from %d to %d pixels", len(src), len(dst),
			t.from, t.Len()))
	}
	done := 0
	if k, n := table[l].resampleRow, min(t.paired, t.Len()-1); k != nil && n > 0 {
		k(at(dst), at(src), at(t.bytes), at(t.weight), n)
		done = n
	}
	resampleRowGeneric(dst, src, t, done)
}

// BlendRows interpolates between two rows of the same length that ResampleRow made, and rounds to 8 bits,
// halves up:
//
//	dst = (near·(1-weight) + far·weight + ½) rounded down
//
// with the weight, at most 1, in units of 2^-14. Results are equal at all levels.
func (l Level) BlendRows(dst []uint8, near, far []uint32, weight uint32) {
	if len(near) < len(dst) || len(far) < len(dst) || weight > one {
		panic(fmt.Sprintf("simd: blending of rows of %d and %d to %d, weight %d", len(near), len(far), len(dst), weight))
	}
	done := 0
	if k, batches := table[l].blendRows, len(dst)/16; k != nil && batches > 0 {
		k(at(dst), at(near), at(far), one-weight|weight<<16, batches)
		done = 16 * batches
	}
	blendRowsGeneric(dst[done:], near[done:], far[done:], uint64(weight))
}

// resampleRowGeneric computes the positions from lo on. Between a and b it takes one product, of b - a.
func resampleRowGeneric(dst []uint32, src []uint8, t *Taps, lo int) {
	firsts, weights := t.bytes, t.weight[:len(t.bytes)]
	dst = dst[:3*len(firsts)]
	if t.from == 1 {
		for i := 3 * lo; i < len(dst); i++ {
			dst[i] = uint32(src[i%3]) << tapBits
		}
		return
	}
	for i := lo; i < len(firsts); i++ {
		at, far := int(firsts[i]), weights[i]>>16
		pair, out := src[at:at+6:at+6], dst[3*i:3*i+3:3*i+3]
		a, b, c := uint32(pair[0]), uint32(pair[1]), uint32(pair[2])
		out[0] = a<<tapBits + (uint32(pair[3])-a)*far
		out[1] = b<<tapBits + (uint32(pair[4])-b)*far
		out[2] = c<<tapBits + (uint32(pair[5])-c)*far
	}
}

func blendRowsGeneric(dst []uint8, near, far []uint32, weight uint64) {
	near, far = near[:len(dst)], far[:len(dst)]
	const half = 1 << (2*tapBits - 1)
	for i := range dst {
		a, b := uint64(near[i]), uint64(far[i])
		dst[i] = uint8((a<<tapBits + (b-a)*weight + half) >> (2 * tapBits))
	}
}
