package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"nmn/tools/simdgen/shared"
)

// reduceRows writes the loop of simd.ReduceRows for four rows and count positions. The twelve bytes of four
// pixels become words, with two pixels next to each other in each lane. They go into sums of products with
// the upper and with the lower halves of their weights. A pixel's store writes one byte after its own, which
// the next one overwrites. All levels use it.
func reduceRows() {
	kernel("reduceRowsAVX2",
		"func(dst *uint8, dstStride int, src *uint8, srcStride int, first *int32, pairs *uint16, groups, count int)")
	dst, dstStride, src, srcStride := load("dst"), load("dstStride"), load("src"), load("srcStride")
	first, pairs, count := load("first"), load("pairs"), load("count")
	deal, upper, lower, half := YMM(), YMM(), YMM(), XMM()
	VMOVDQU(global("fourPixels", func() {
		for lane := range 2 {
			for i, b := range []int{0, 3, 1, 4, 2, 5} {
				DATA(16*lane+2*i, U16(0x8000+6*lane+b))
			}
			DATA(16*lane+12, U32(0x80808080))
		}
	}), deal)
	choose := func(name string, at int, to reg.VecVirtual) { // a double word of either pair for each lane
		VMOVDQU(global(name, func() {
			for i := range 8 {
				DATA(4*i, U32(at+i/4*2))
			}
		}), to)
	}
	choose("upperHalves", 0, upper)
	choose("lowerHalves", 1, lower)
	VBROADCASTSS(avx2.constant("reduceHalf", 1<<(shared.ReduceBits-1)), half)
	rows := []reg.GPVirtual{GP64(), GP64(), GP64(), GP64()}
	at, left := GP64(), GP64()
	Label("pixel")
	MOVLQSX(Mem{Base: first}, at)
	LEAQ(Mem{Base: src, Index: at, Scale: 1}, rows[0])
	for i := 1; i < 4; i++ {
		LEAQ(Mem{Base: rows[i-1], Index: srcStride, Scale: 1}, rows[i])
	}
	Load(Param("groups"), left)
	sums := avx2.grid(4, 2)
	avx2.zeroGrid(sums)
	Label("group")
	h, l := YMM(), YMM()
	VMOVDQU(Mem{Base: pairs}, l.AsX())
	VPERMD(l, upper, h)
	VPERMD(l, lower, l)
	for i, row := range rows {
		x, y := YMM(), YMM()
		VBROADCASTI128(Mem{Base: row}, x)
		VPSHUFB(deal, x, x)
		VPMADDWD(h, x, y)
		VPMADDWD(l, x, x)
		VPADDD(y, sums[i][0], sums[i][0])
		VPADDD(x, sums[i][1], sums[i][1])
		ADDQ(Imm(12), row)
	}
	ADDQ(Imm(2*shared.PairBytes), pairs)
	countDown(left, "group")
	for _, s := range sums {
		other := XMM()
		VPSLLD(Imm(shared.ReduceLow), s[0], s[0])
		VPADDD(s[1], s[0], s[0])
		VEXTRACTI128(Imm(1), s[0], other)
		VPADDD(other, s[0].AsX(), other)
		VPADDD(half, other, other)
		VPSRAD(Imm(shared.ReduceBits), other, s[1].AsX())
	}
	bytes, others := XMM(), XMM()
	VPACKUSDW(sums[1][1].AsX(), sums[0][1].AsX(), bytes)
	VPACKUSDW(sums[3][1].AsX(), sums[2][1].AsX(), others)
	VPACKUSWB(others, bytes, bytes)
	to := GP64()
	MOVQ(dst, to)
	for i := range 4 {
		VPEXTRD(Imm(uint64(i)), bytes, Mem{Base: to})
		if i < 3 {
			ADDQ(dstStride, to)
		}
	}
	ADDQ(Imm(3), dst)
	ADDQ(Imm(4), first)
	countDown(count, "pixel")
	finish()
}

// reduceColumns writes the loop of simd.ReduceColumns for batches of two registers of words, from the given number of
// pairs of rows.
func reduceColumns(v vectors) {
	kernel("reduceColumns"+v.name,
		"func(dst, src *uint8, stride int, pairs *uint16, count, batches int)")
	dst, src, stride, batches := load("dst"), load("src"), load("stride"), load("batches")
	near, pairs, left := GP64(), GP64(), GP64()
	half := v.register()
	broadcastWord(v.constant("reduceHalf", 1<<(shared.ReduceBits-1)), half)
	words := v.bytes() / 2
	Label("batch")
	MOVQ(src, near)
	Load(Param("pairs"), pairs)
	Load(Param("count"), left)
	sums := v.grid(4, 2)
	v.zeroGrid(sums)
	Label("pair")
	h, l := v.register(), v.register()
	broadcastWord(Mem{Base: pairs}, h)
	broadcastWord(Mem{Base: pairs, Disp: 4}, l)
	for i := range 2 {
		x, y, low := v.register(), v.register(), v.register()
		VPMOVZXBW(Mem{Base: near, Disp: i * words}, x)
		VPMOVZXBW(Mem{Base: near, Index: stride, Scale: 1, Disp: i * words}, y)
		VPUNPCKLWD(y, x, low)
		VPUNPCKHWD(y, x, x)
		for j, z := range []reg.VecVirtual{low, x} {
			product := v.register()
			VPMADDWD(h, z, product)
			VPADDD(product, sums[2*i+j][0], sums[2*i+j][0])
			VPMADDWD(l, z, product)
			VPADDD(product, sums[2*i+j][1], sums[2*i+j][1])
		}
	}
	LEAQ(Mem{Base: near, Index: stride, Scale: 2}, near)
	ADDQ(Imm(shared.PairBytes), pairs)
	countDown(left, "pair")
	for _, s := range sums {
		VPSLLD(Imm(shared.ReduceLow), s[0], s[0])
		VPADDD(s[1], s[0], s[0])
		VPADDD(half, s[0], s[0])
		VPSRAD(Imm(shared.ReduceBits), s[0], s[0])
	}
	for i := range 2 {
		packed := sums[2*i][0]
		VPACKUSDW(sums[2*i+1][0], packed, packed)
		if v.wide {
			VPMOVUSWB(packed, Mem{Base: dst, Disp: i * words})
			continue
		}
		other := XMM()
		VEXTRACTI128(Imm(1), packed, other)
		VPACKUSWB(other, packed.AsX(), other)
		VMOVDQU(other, Mem{Base: dst, Disp: i * words})
	}
	ADDQ(Imm(uint64(2*words)), src)
	ADDQ(Imm(uint64(2*words)), dst)
	countDown(batches, "batch")
	finish()
}
