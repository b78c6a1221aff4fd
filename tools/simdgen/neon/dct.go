package neon

import (
	"slices"

	"nmn/tools/simdgen/shared"
)

// cosines has the magnitudes of shared.DCTEven and shared.DCTOdd in lanes of 16 bits.
var cosines = []int{10703, 4433, 10704, 11363, 9633, 6437, 2260, 2259, 11362, 6436, 2261}

// dct is the kernel of the transform.
type dct struct {
	*kernel
	factors []vector // cosines
	half    vector   // of the last bit that the second pass keeps
}

// inverseDCT writes the loop of simd.InverseDCT for pairs of blocks. It takes one block at a time: a vector has a row
// of it. Sums have 32 bits, for the lower and the upper half of the row.
func inverseDCT(f *file) {
	f.function("inverseDCTNEON", "func(dst *uint8, stride int, coefs *int16, factors *uint16, pairs int)",
		func(k *kernel) {
			d := &dct{kernel: k, half: k.bits(1 << (shared.DCTBits + shared.DCTKeep + 2)),
				factors: []vector{k.words("cosines", cosines[:8]...), k.words("moreCosines", cosines[8:]...)}}
			dst, stride, coefs, factors, blocks, at := k.load("dst"), k.load("stride"), k.load("coefs"), k.load("factors"),
				k.load("pairs"), k.register()
			k.op("LSL $1, R%d, R%d", blocks, blocks)
			middle, x, y := k.bits(0x80808080), k.grid(1, 8)[0], k.grid(1, 8)[0]
			k.label("block")
			k.fill(x, coefs, lanes*len(x))
			k.scope(func() {
				for i, factor := range k.peek(factors, lanes*len(x)) {
					k.v("mul.8h", x[i], x[i], factor)
				}
			})
			d.columns(y, x)
			k.transposeWords(y, x)
			d.rows(y, x)
			k.move(dst, at)
			for _, rows := range k.bytesByRow(y, middle) {
				k.op("FMOVD F%d, (R%d)", rows, at)
				k.add(stride, at)
				k.op("VST1 V%d.D[1], (R%d)", rows, at)
				k.add(stride, at)
			}
			k.op("ADD $8, R%d, R%d", dst, dst)
			k.op("ADD $128, R%d, R%d", coefs, coefs)
			k.countDown(blocks, "block")
		})
}

// columns is the first pass. It rounds to shared.DCTKeep fractional bits, in words.
func (d *dct) columns(y, x []vector) {
	for upper, narrow := range []string{"sqrshrn.4h", "sqrshrn2.8h"} {
		d.transform(x, upper, func(i int, even, odd vector) {
			sum := d.vector()
			d.v("add.4s", sum, even, odd)
			d.v("sub.4s", even, even, odd)
			d.v(narrow, y[i], sum, shared.DCTBits-shared.DCTKeep)
			d.v(narrow, y[7-i], even, shared.DCTBits-shared.DCTKeep)
		})
	}
}

// rows is the second pass. It keeps the upper halves of the sums, which have shared.DCTKeep bits to drop after rounding.
func (d *dct) rows(y, x []vector) {
	for upper, suffix := range []string{".4h", "2.8h"} {
		d.transform(x, upper, func(i int, even, odd vector) {
			d.v("addhn"+suffix, y[i], even, odd)
			d.v("subhn"+suffix, y[7-i], even, odd)
		}, d.half)
	}
}

// transform computes four sums of 32 bits of the results, from the lower or upper halves of x. A result is the sum or
// the difference of an even and an odd part. bias is added to the even parts.
func (d *dct) transform(x []vector, upper int, result func(i int, even, odd vector), bias ...vector) {
	half := []string{"", "2"}[upper] + ".4s"
	products := func(factors []int, x ...vector) vector {
		sum := d.vector()
		for i, c := range factors {
			op := "smlal"
			switch {
			case i == 0:
				op = "smull"
			case c < 0:
				op, c = "smlsl", -c
			}
			at := slices.Index(cosines, c)
			d.v(op+half+".lane", sum, x[i], d.factors[at/8], at%8)
		}
		return sum
	}
	d.scope(func() {
		even := d.grid(1, 4)[0]
		for i, op := range []string{"saddl", "ssubl"} {
			d.scope(func() {
				sum, turned := d.vector(), products(shared.DCTEven[i][:], x[2], x[6])
				d.v(op+half, sum, x[0], x[4])
				d.v("shl.4s", sum, sum, shared.DCTBits)
				for _, b := range bias {
					d.v("add.4s", sum, sum, b)
				}
				d.v("add.4s", even[i], sum, turned)
				d.v("sub.4s", even[3-i], sum, turned)
			})
		}
		for i, e := range even {
			d.scope(func() { result(i, e, products(shared.DCTOdd[i][:], x[1], x[3], x[5], x[7])) })
		}
	})
}

// transposeWords transposes 8×8 words. x is destroyed.
func (k *kernel) transposeWords(x, y []vector) {
	for i := 0; i < 8; i += 2 { // single words, then pairs, then four
		k.v("trn1.8h", y[i], x[i], x[i+1])
		k.v("trn2.8h", y[i+1], x[i], x[i+1])
	}
	for _, i := range []int{0, 1, 4, 5} {
		k.v("trn1.4s", x[i], y[i], y[i+2])
		k.v("trn2.4s", x[i+2], y[i], y[i+2])
	}
	for i := range 4 {
		k.v("zip1.2d", y[i], x[i], x[i+4])
		k.v("zip2.2d", y[i+4], x[i], x[i+4])
	}
}

// bytesByRow turns eight columns of eight words into bytes around the middle, and into vectors with two rows of them.
func (k *kernel) bytesByRow(x []vector, middle vector) []vector {
	for i := range 4 {
		k.v("sqshrn.8b", x[i], x[i], shared.DCTKeep)
		k.v("sqshrn2.16b", x[i], x[4+i], shared.DCTKeep)
		k.v("add.16b", x[i], x[i], middle)
	}
	a, b, c, d, e, f := x[0], x[1], x[2], x[3], x[4], x[5]
	interleave := func(T string, low, high, from, with vector) {
		k.v("zip1."+T, low, from, with)
		k.v("zip2."+T, high, from, with)
	}
	interleave("16b", e, f, a, b) // columns 0 and 1, 4 and 5
	interleave("16b", a, b, c, d) // 2 and 3, 6 and 7
	interleave("8h", c, d, e, a)  // 0 to 3 of the upper rows, of the lower ones
	interleave("8h", e, a, f, b)  // 4 to 7
	interleave("4s", f, b, c, e)
	interleave("4s", c, e, d, a)
	return []vector{f, b, c, e}
}
