package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"nmn/tools/simdgen/shared"
)

// lowBits are the bits of a row resized along x that do not fit into the signed words of VPMADDWD.
const lowBits = 7

// resampleRow writes the loop of simd.ResampleRow for count pixels. The eight bytes from the first pixel on
// hold both pixels. Their channels become pairs of words, each multiplied with the pair of weights. A pixel's
// store writes another quarter after its own, which the next one overwrites. All levels use it, because
// stores limit its speed.
func resampleRow() {
	kernel("resampleRowAVX2", "func(dst *uint32, src *uint8, first *int32, weights *uint32, count int)")
	dst, src, first, weights, count := load("dst"), load("src"), load("first"), load("weights"), load("count")
	pairs, at := XMM(), GP64()
	VMOVDQU(global("pixelPairs", func() {
		for i, b := range []int{0, 3, 1, 4, 2, 5} {
			DATA(2*i, U16(0x8000+b)) // the byte b of the source, then 0
		}
		DATA(12, U32(0x80808080))
	}), pairs)
	Label("pixel")
	x, w := XMM(), XMM()
	MOVLQSX(Mem{Base: first}, at)
	VMOVQ(Mem{Base: src, Index: at, Scale: 1}, x)
	VPSHUFB(pairs, x, x)
	VPBROADCASTD(Mem{Base: weights}, w)
	VPMADDWD(w, x, x)
	VMOVDQU(x, Mem{Base: dst})
	ADDQ(Imm(4), first)
	ADDQ(Imm(4), weights)
	ADDQ(Imm(12), dst)
	countDown(count, "pixel")
	RET()
}

// blendRows writes the loop of simd.BlendRows for batches of 16 bytes. A level of near or far has 22 bits,
// too many for a word: with its upper 15 bits and its lower 7 apart,
//
//	(near·w0 + far·w1 + half) >> 28 = (H + (L + half)>>7) >> 21
//
// with H and L as the sums over the upper and the lower bits.
func blendRows(v vectors) {
	kernel("blendRows"+v.name, "func(dst *uint8, near, far *uint32, weights uint32, batches int)")
	dst, near, far, batches := load("dst"), load("near"), load("far"), load("batches")
	weights, half, low := v.register(), v.register(), v.register()
	broadcastWord(param("weights"), weights)
	broadcastWord(v.constant("half", 1<<(2*shared.TapBits-1)), half)
	broadcastWord(v.constant("low", 1<<lowBits-1), low)
	blend := func(disp int) reg.VecVirtual {
		n, f, h, g := v.register(), v.register(), v.register(), v.register()
		v.fetchWords(Mem{Base: near, Disp: disp}, n)
		v.fetchWords(Mem{Base: far, Disp: disp}, f)
		VPSRLD(Imm(lowBits), n, h)
		VPSRLD(Imm(lowBits), f, g)
		VPSLLD(Imm(16), g, g)
		v.or(g, h)
		v.and(low, n)
		v.and(low, f)
		VPSLLD(Imm(16), f, f)
		v.or(f, n)
		VPMADDWD(weights, h, h)
		VPMADDWD(weights, n, n)
		VPADDD(half, n, n)
		VPSRLD(Imm(lowBits), n, n)
		VPADDD(n, h, h)
		VPSRLD(Imm(2*shared.TapBits-lowBits), h, h)
		return h
	}
	Label("batch")
	if v.wide {
		VPMOVDB(blend(0), Mem{Base: dst})
	} else {
		words, bytes := YMM(), XMM()
		front, back := blend(0), blend(32)
		VPACKUSDW(back, front, words)
		VPERMQ(Imm(0xd8), words, words)
		VEXTRACTI128(Imm(1), words, bytes)
		VPACKUSWB(bytes, words.AsX(), bytes)
		VMOVDQU(bytes, Mem{Base: dst})
	}
	ADDQ(Imm(16), dst)
	ADDQ(Imm(64), near)
	ADDQ(Imm(64), far)
	countDown(batches, "batch")
	finish()
}

func (v vectors) fetchWords(from Mem, to reg.VecVirtual) {
	if v.wide {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func (v vectors) or(x, to reg.VecVirtual) {
	if v.wide {
		VPORD(x, to, to)
	} else {
		VPOR(x, to, to)
	}
}

func (v vectors) and(x, to reg.VecVirtual) {
	if v.wide {
		VPANDD(x, to, to)
	} else {
		VPAND(x, to, to)
	}
}
