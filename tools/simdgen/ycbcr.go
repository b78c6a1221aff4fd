package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ycbcr writes the loop of simd.YCbCr for groups of eight pixels, in 32-bit integers like the Go twin. Both
// levels use it, because shuffles and stores limit its speed. The second half of a group writes four bytes
// after its own, which the next group overwrites.
func ycbcr() {
	kernel("ycbcrAVX2", "func(dst, luma, cb, cr *uint8, groups int)")
	dst, groups := load("dst"), load("groups")
	planes := []reg.Register{load("luma"), load("cb"), load("cr")}
	word := func(name string, value int32) reg.VecVirtual {
		x := YMM()
		broadcastWord(avx2.constant(name, uint32(value)), x)
		return x
	}
	middle, half, most, zero := word("middle", 128), word("roundUp", 1<<15), word("most", 255), YMM()
	VXORPS(zero, zero, zero)
	redCr, blueCb := word("redCr", 91881), word("blueCb", 116130)
	greenCb, greenCr := word("greenCb", -22554), word("greenCr", -46802)
	rgb := YMM()
	VBROADCASTI128(global("rgb", func() {
		for i, b := range []int{0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14} {
			DATA(i, U8(b))
		}
		DATA(12, U32(0x80808080))
	}), rgb)

	Label("group")
	values := make([]reg.VecVirtual, 3)
	for i, plane := range planes {
		values[i] = YMM()
		VPMOVZXBD(Mem{Base: plane}, values[i])
		ADDQ(Imm(8), plane)
	}
	y, u, w := values[0], values[1], values[2]
	VPSUBD(middle, u, u)
	VPSUBD(middle, w, w)
	// level is luma + (sum + ½) >> 16 in 0 to 255.
	level := func(sum reg.VecVirtual) reg.VecVirtual {
		VPADDD(half, sum, sum)
		VPSRAD(Imm(16), sum, sum)
		VPADDD(y, sum, sum)
		VPMAXSD(zero, sum, sum)
		VPMINSD(most, sum, sum)
		return sum
	}
	times := func(factor, x reg.VecVirtual) reg.VecVirtual {
		product := YMM()
		VPMULLD(factor, x, product)
		return product
	}
	red, blue := level(times(redCr, w)), level(times(blueCb, u))
	sum, other := times(greenCb, u), times(greenCr, w)
	VPADDD(other, sum, sum)
	green := level(sum)
	VPSLLD(Imm(8), green, green)
	VPSLLD(Imm(16), blue, blue)
	VPOR(green, red, red)
	VPOR(blue, red, red)
	VPSHUFB(rgb, red, red)
	upper := XMM()
	VEXTRACTI128(Imm(1), red, upper)
	VMOVDQU(red.AsX(), Mem{Base: dst})
	VMOVDQU(upper, Mem{Base: dst, Disp: 12})
	ADDQ(Imm(24), dst)
	countDown(groups, "group")
	finish()
}
