package simd

import "fmt"

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

// The transform is a sum of products with cosines of dctBits bits: of coefficients 2 and 6 in the even part,
// of 1, 3, 5 and 7 in the odd one. They are whole sums of the 13-bit constants of that method, so that its
// results come out exactly.
const dctBits = 13

// dct1 transforms eight numbers of 17 bits at most. The results have dctBits more fractional bits.
func dct1(x *[8]int32) {
	sum, difference := (x[0]+x[4])<<dctBits, (x[0]-x[4])<<dctBits
	outer, inner := 10703*x[2]+4433*x[6], 4433*x[2]-10704*x[6]
	a, b, c, d := x[1], x[3], x[5], x[7]
	odd0, odd1 := 11363*a+9633*b+6437*c+2260*d, 9633*a-2259*b-11362*c-6436*d
	odd2, odd3 := 6437*a-11362*b+2261*c+9633*d, 2260*a-6436*b+9633*c-11363*d
	even0, even1, even2, even3 := sum+outer, difference+inner, difference-inner, sum-outer
	x[0], x[7] = even0+odd0, even0-odd0
	x[1], x[6] = even1+odd1, even1-odd1
	x[2], x[5] = even2+odd2, even2-odd2
	x[3], x[4] = even3+odd3, even3-odd3
}

func inverseDCTGeneric(dst []uint8, stride int, coefs *[64]int16, factors *[64]uint16) {
	const (
		keep   = 2                  // fractional bits between the passes
		first  = dctBits - keep     // bits to drop after the first pass
		second = dctBits + keep + 3 // bits to drop after the second pass, including an eighth
	)
	var middle [8][8]int32 // columns
	var row [8]int32
	for x := range 8 {
		c, f := coefs[x:x+57:x+57], factors[x:x+57:x+57]
		mean := int32(c[0] * int16(f[0]))
		if c[8]|c[16]|c[24]|c[32]|c[40]|c[48]|c[56] == 0 {
			v := int32(clamp16(mean << keep))
			middle[x] = [8]int32{v, v, v, v, v, v, v, v}
			continue
		}
		column := &middle[x]
		column[0], column[1] = mean, int32(c[8]*int16(f[8]))
		column[2], column[3] = int32(c[16]*int16(f[16])), int32(c[24]*int16(f[24]))
		column[4], column[5] = int32(c[32]*int16(f[32])), int32(c[40]*int16(f[40]))
		column[6], column[7] = int32(c[48]*int16(f[48])), int32(c[56]*int16(f[56]))
		dct1(column)
		for y, v := range column {
			column[y] = int32(clamp16((v + 1<<(first-1)) >> first))
		}
	}
	for y := range 8 {
		row[0], row[1], row[2], row[3] = middle[0][y], middle[1][y], middle[2][y], middle[3][y]
		row[4], row[5], row[6], row[7] = middle[4][y], middle[5][y], middle[6][y], middle[7][y]
		dct1(&row)
		out := (*[8]uint8)(dst[y*stride:])
		for x, v := range row {
			out[x] = clamp8((v+1<<(second-1))>>second + 128)
		}
	}
}

func clamp16(v int32) int16 { return int16(min(max(v, -1<<15), 1<<15-1)) }
