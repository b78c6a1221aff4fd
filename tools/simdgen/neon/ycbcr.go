package neon

import "encoding/binary"

// ycbcr writes the loop of simd.YCbCr for groups of eight pixels. Factors have 16 bits, with their sign, in units of
// 2^-16. A larger factor is split into a whole number and a rest of at most ½.
func ycbcr(f *file) {
	f.function("ycbcrNEON", "func(dst, luma, cb, cr *uint8, groups int)", func(k *kernel) {
		rgb := k.grid(1, 3)[0] // the first vectors follow each other
		const redCr, greenCb, greenCr, blueCb = 0, 1, 2, 3
		factors, middle := k.words("colours", 91881-1<<16, -22554, -46802+1<<16, 116130-2<<16), k.bits(0x80808080)
		dst, luma, cb, cr, groups := k.load("dst"), k.load("luma"), k.load("cb"), k.load("cr"), k.load("groups")
		k.repeat(groups, "group", func() {
			plane := func(at register, op string, operand any) vector {
				x := k.vector()
				k.op("FMOVD.P 8(R%d), F%d", at, x)
				k.v(op, x, x, operand)
				return x
			}
			y, u, w := plane(luma, "ushll.8h", 0), plane(cb, "usubl.8h", middle), plane(cr, "usubl.8h", middle)
			// level is the luma, with whole values of chroma added or subtracted, and the rounded sum of products.
			level := func(to vector, op string, whole []vector, lanes []int, x ...vector) {
				k.scope(func() {
					sum, rest := k.vector(), k.vector()
					for half, narrow := range []string{"rshrn.4h", "rshrn2.8h"} {
						for i, v := range x {
							multiply := []string{"smull", "smlal"}[i] + []string{"", "2"}[half] + ".4s.lane"
							k.v(multiply, sum, v, factors, lanes[i])
						}
						k.v(narrow, rest, sum, 16)
					}
					for _, v := range whole {
						k.v(op, rest, rest, v)
					}
					k.v("add.8h", rest, rest, y)
					k.v("sqxtun.8b", to, rest)
				})
			}
			level(rgb[0], "add.8h", []vector{w}, []int{redCr}, w)
			level(rgb[1], "sub.8h", []vector{w}, []int{greenCb, greenCr}, u, w)
			level(rgb[2], "add.8h", []vector{u, u}, []int{blueCb}, u)
			k.op("VST3.P [V%d.B8, V%d.B8, V%d.B8], 24(R%d)", rgb[0], rgb[1], rgb[2], dst)
		})
	})
}

// words is a new vector of eight numbers of 16 bits. Missing ones are 0.
func (k *kernel) words(name string, numbers ...int) vector {
	words := make([]uint32, lanes)
	for i, n := range numbers {
		words[i/2] |= uint32(uint16(n)) << (i % 2 * 16)
	}
	v := k.vector()
	k.scope(func() { k.fill([]vector{v}, k.constant(name, words...), lanes) })
	return v
}

// table is a new vector of 16 bytes.
func (k *kernel) table(name string, bytes [16]uint8) vector {
	words := make([]uint32, lanes)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(bytes[4*i:])
	}
	v := k.vector()
	k.scope(func() { k.fill([]vector{v}, k.constant(name, words...), lanes) })
	return v
}
