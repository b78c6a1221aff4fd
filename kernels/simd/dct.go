package simd

import (
	"fmt"
	"math"
)

// InverseDCT turns a row of blocks of 8×8 JPEG coefficients into samples, in the arithmetic of libjpeg's
// accurate integer method (jidctint, "islow") after Loeffler, Ligtenberg and Moschytz. It has 13 bits of the
// cosines, goes first along columns, and keeps two more bits in between. Each coefficient, of 64 of a block
// row by row, is multiplied by its factor in 16 bits. Sample = rounded result + 128, limited to 0 to 255.
//
// Block i has its upper left sample at dst[8·i], and rows begin stride apart. Results are equal at all
// levels.
func (l Level) InverseDCT(dst []uint8, stride int, coefs []int16, factors *[64]uint16) {
	blocks := len(coefs) / 64
	if len(coefs)%64 != 0 || stride < 8*blocks || blocks > 0 && len(dst) < 7*stride+8*blocks {
		panic(fmt.Sprintf("simd: %d coefficients to %d samples in rows of %d", len(coefs), len(dst), stride))
	}
	done := 0
	if k := table[l].inverseDCT; k != nil && blocks > 1 {
		k(&dst[0], stride, &coefs[0], &factors[0], blocks/2)
		done = blocks / 2 * 2
	}
	for ; done < blocks; done++ {
		inverseDCTGeneric(dst[8*done:], stride, (*[64]int16)(coefs[64*done:]), factors)
	}
}

// dctBits is the number of fractional bits of the cosines. Results are exact sums of products with them.
const dctBits = 13

// dct1 transforms eight numbers of 16 bits. The first has dctBits fractional bits, as the results have, so that it
// includes what is added to each of them. The factors of the method need few products. The numbers
// are in registers, where arrays would be in memory.
func dct1(x0, x1, x2, x3, x4, x5, x6, x7 int32) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	x4 <<= dctBits
	both := 4433 * (x2 + x6)
	outer, inner := both+6270*x2, both-15137*x6
	even0, even1, even2, even3 := x0+x4+outer, x0-x4+inner, x0-x4-inner, x0+x4-outer

	all := 9633 * (x1 + x3 + x5 + x7)
	of17, of35 := -7373*(x1+x7), -20995*(x3+x5)
	of37, of15 := all-16069*(x3+x7), all-3196*(x1+x5)
	odd0, odd1 := 12299*x1+of17+of15, 25172*x3+of35+of37
	odd2, odd3 := 16819*x5+of35+of15, 2446*x7+of17+of37
	return even0 + odd0, even1 + odd1, even2 + odd2, even3 + odd3,
		even3 - odd3, even2 - odd2, even1 - odd1, even0 - odd0
}

// dct1Low is dct1 if the last four numbers are 0.
func dct1Low(x0, x1, x2, x3 int32) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	outer, inner := (4433+6270)*x2, 4433*x2
	even0, even1, even2, even3 := x0+outer, x0+inner, x0-inner, x0-outer

	all := 9633 * (x1 + x3)
	of1, of3 := all-3196*x1, all-16069*x3
	odd0, odd1 := (12299-7373)*x1+of1, (25172-20995)*x3+of3
	odd2, odd3 := of1-20995*x3, of3-7373*x1
	return even0 + odd0, even1 + odd1, even2 + odd2, even3 + odd3,
		even3 - odd3, even2 - odd2, even1 - odd1, even0 - odd0
}

func inverseDCTGeneric(dst []uint8, stride int, coefs *[64]int16, factors *[64]uint16) {
	const (
		keep   = 2                  // fractional bits between the passes
		first  = dctBits - keep     // bits to drop after the first pass
		second = dctBits + keep + 3 // bits to drop after the second pass, including an eighth
		// What is added before bits are dropped.
		firstHalf, secondHalf = 1 << (first - 1), 128<<second + 1<<(second-1)
	)
	var columns [8][8]int16
	below, right := int16(0), int16(0) // all coefficients below the first row, and right of the fourth column
	for x := range 8 {
		c, f, y := (*[57]int16)(coefs[x:]), (*[57]uint16)(factors[x:]), &columns[x]
		low, high := c[8]|c[16]|c[24], c[32]|c[40]|c[48]|c[56]
		below |= low | high
		if x >= 4 {
			right |= low | high | c[0]
		}
		mean := int32(c[0] * int16(f[0]))
		if low|high == 0 {
			v := clamp16(mean << keep)
			y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7] = v, v, v, v, v, v, v, v
			continue
		}
		x0 := mean<<dctBits + firstHalf
		x1, x2, x3 := int32(c[8]*int16(f[8])), int32(c[16]*int16(f[16])), int32(c[24]*int16(f[24]))
		var y0, y1, y2, y3, y4, y5, y6, y7 int32
		if high == 0 {
			y0, y1, y2, y3, y4, y5, y6, y7 = dct1Low(x0, x1, x2, x3)
		} else {
			y0, y1, y2, y3, y4, y5, y6, y7 = dct1(x0, x1, x2, x3, int32(c[32]*int16(f[32])), int32(c[40]*int16(f[40])),
				int32(c[48]*int16(f[48])), int32(c[56]*int16(f[56])))
		}
		y[0], y[1], y[2], y[3] = clamp16(y0>>first), clamp16(y1>>first), clamp16(y2>>first), clamp16(y3>>first)
		y[4], y[5], y[6], y[7] = clamp16(y4>>first), clamp16(y5>>first), clamp16(y6>>first), clamp16(y7>>first)
	}
	for i := range 8 {
		y := (*[8]uint8)(dst[i*stride:])
		if i > 0 && below == 0 {
			*y = [8]uint8(dst)
			continue
		}
		x0 := int32(columns[0][i])<<dctBits + secondHalf
		x1, x2, x3 := int32(columns[1][i]), int32(columns[2][i]), int32(columns[3][i])
		var y0, y1, y2, y3, y4, y5, y6, y7 int32
		if right == 0 {
			y0, y1, y2, y3, y4, y5, y6, y7 = dct1Low(x0, x1, x2, x3)
		} else {
			y0, y1, y2, y3, y4, y5, y6, y7 = dct1(x0, x1, x2, x3, int32(columns[4][i]), int32(columns[5][i]),
				int32(columns[6][i]), int32(columns[7][i]))
		}
		y0, y1, y2, y3, y4, y5, y6, y7 = y0>>second, y1>>second, y2>>second, y3>>second, y4>>second, y5>>second,
			y6>>second, y7>>second
		if uint32(y0|y1|y2|y3|y4|y5|y6|y7) > 255 {
			y0, y1, y2, y3 = int32(clamp8(y0)), int32(clamp8(y1)), int32(clamp8(y2)), int32(clamp8(y3))
			y4, y5, y6, y7 = int32(clamp8(y4)), int32(clamp8(y5)), int32(clamp8(y6)), int32(clamp8(y7))
		}
		y[0], y[1], y[2], y[3] = uint8(y0), uint8(y1), uint8(y2), uint8(y3)
		y[4], y[5], y[6], y[7] = uint8(y4), uint8(y5), uint8(y6), uint8(y7)
	}
}

func clamp16(v int32) int16 {
	if v == int32(int16(v)) {
		return int16(v)
	}
	return int16(v>>31) ^ math.MaxInt16
}
