package simd

import (
	"fmt"
	"math"
	"unsafe"
)

// BFloat16 returns nil if the level multiplies bfloat16 with instructions for it, or an error that names what is
// missing. MultiplyBFloat16 and RoundBFloat16 run at every level, but the Go code is slow.
func (l Level) BFloat16() error {
	switch {
	case table[l].roundBFloat16 != nil:
		return nil
	case l == AVX512:
		return fmt.Errorf("simd level %s multiplies no bfloat16: the processor or the operating system lacks "+
			"AVX512_BF16", l)
	}
	return fmt.Errorf("simd level %s multiplies no bfloat16: that needs level %s and AVX512_BF16", l, AVX512)
}

// Pairs is bfloat16 numbers as pairs, in the same memory: two in the bits of each float32, the first in the lower half.
// The count must be even.
func Pairs(numbers []uint16) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)/2)
}

// MultiplyBFloat16 computes a tile whose A and Panel hold pairs, see Pairs. Depth, offsets and strides count pairs.
// Each pair of factors adds two products, the upper halves first. All other numbers are float32.
//
// A product and a sum are rounded together, to the nearest float32, ties to even. Numbers below the smallest normal
// one, 2^-126, count as 0 in factors and sums. All levels give the same bits.
func (l Level) MultiplyBFloat16(t *Tile, width int) {
	if !l.tile(t, width, &table[l].wideBFloat16, &table[l].narrowBFloat16) {
		tileBFloat16Generic(t, width)
	}
}

// RoundBFloat16 rounds numbers to bfloat16, to the nearest one, ties to even, and writes them as pairs. A number below
// 2^-126 becomes 0. The last pair of an odd count has a 0 in its upper half.
func (l Level) RoundBFloat16(pairs, numbers []float32) {
	checkRows("round to bfloat16", len(pairs), 0, 1, (len(numbers)+1)/2)
	if k := table[l].roundBFloat16; k == nil {
		roundBFloat16Generic(pairs, numbers)
	} else if len(numbers) > 0 {
		k(at(pairs), at(numbers), len(numbers))
	}
}

func tileBFloat16Generic(t *Tile, width int) {
	for i := range t.Rows {
		dst := t.Dst[i*t.DstStride:][:width]
		for j := range dst {
			var sum float32
			if t.Load {
				sum = t.begin()[i*t.DstStride+j]
			}
			for tap := range t.Taps {
				a := t.A[t.Offsets[i]+tap*t.TapStride:][:t.Depth]
				panel := t.Panel[tap*(t.Depth*width+t.PanelSkip):]
				for c, pair := range a {
					x, w := math.Float32bits(pair), math.Float32bits(panel[c*width+j])
					sum = fused(upperHalf(x), upperHalf(w), sum)
					sum = fused(upperHalf(x<<16), upperHalf(w<<16), sum)
				}
			}
			if t.Bias != nil {
				sum += t.Bias[j]
			}
			if t.ReLU && sum < 0 {
				sum = 0
			}
			if t.Mask != nil && t.Mask[i*t.DstStride+j] <= 0 {
				sum = 0
			}
			dst[j] = sum
		}
	}
}

// upperHalf is the bfloat16 in the upper half of bits.
func upperHalf(bits uint32) float32 { return math.Float32frombits(bits &^ 0xffff) }

// tiny is half a step of float32 below its smallest normal number. Smaller sums count as 0.
const tiny = 0x1p-126 - 0x1p-151

// fused is a·b + c, rounded once. The float64 sum is rounded to odd first, so that rounding it again is rounding the
// exact one.
func fused(a, b, c float32) float32 {
	product, added := float64(flushed(a))*float64(flushed(b)), float64(flushed(c))
	sum := product + added
	rest := sum - product
	rest = (product - (sum - rest)) + (added - rest)
	if bits := math.Float64bits(sum); rest != 0 && bits&1 == 0 && !math.IsInf(sum, 0) {
		sum = math.Nextafter(sum, math.Copysign(math.Inf(1), rest))
	}
	if math.Abs(sum) < tiny {
		return float32(math.Copysign(0, sum))
	}
	return float32(sum)
}

// flushed is x, or a zero of its sign below the smallest normal number.
func flushed(x float32) float32 {
	if bits := math.Float32bits(x); bits&0x7f800000 == 0 {
		return math.Float32frombits(bits & 0x80000000)
	}
	return x
}

func roundBFloat16Generic(pairs, numbers []float32) {
	for i := range (len(numbers) + 1) / 2 {
		pair := roundedBFloat16(numbers[2*i])
		if 2*i+1 < len(numbers) {
			pair |= roundedBFloat16(numbers[2*i+1]) << 16
		}
		pairs[i] = math.Float32frombits(pair)
	}
}

// roundedBFloat16 is the bits of a number in bfloat16. NaN stays NaN.
func roundedBFloat16(x float32) uint32 {
	bits := math.Float32bits(flushed(x))
	if x != x {
		return bits>>16 | 0x40
	}
	return (bits + 0x7fff + bits>>16&1) >> 16
}
