package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normalize writes the loop of simd.Normalize for groups of four pixels of three channels. The bytes of a
// group are picked by order out of the 16 at src, which advances by step after each group. mean and scale
// repeat the channels in turn. Four pixels are whole turns, so they stay in registers.
//
// With AVX-512 a group's store writes another quarter after its own, which the next one overwrites.
func normalize(v vectors) {
	kernel("normalize"+v.name, "func(dst *float32, src *uint8, step int, order *uint8, mean, scale [16]float32, "+
		"groups int)")
	dst, src, step, order, mean, scale, groups := load("dst"), load("src"), load("step"), load("order"),
		firstOf(Param("mean")), firstOf(Param("scale")), load("groups")
	pick := XMM()
	VMOVDQU(Mem{Base: order}, pick)
	values := []reg.VecVirtual{v.register()} // the 12 of a group
	means, scales := []reg.VecVirtual{v.register()}, []reg.VecVirtual{v.register()}
	if !v.wide {
		values, means, scales = append(values, XMM()), append(means, XMM()), append(scales, XMM())
	}
	for i := range values {
		VMOVUPS(Mem{Base: mean, Disp: i * v.bytes()}, means[i])
		VMOVUPS(Mem{Base: scale, Disp: i * v.bytes()}, scales[i])
	}
	Label("group")
	bytes := XMM()
	VMOVDQU(Mem{Base: src}, bytes)
	VPSHUFB(pick, bytes, bytes)
	for i, x := range values {
		if i == 1 {
			VPSRLDQ(Imm(8), bytes, bytes)
		}
		VPMOVZXBD(bytes, x)
		VCVTDQ2PS(x, x)
		VSUBPS(means[i], x, x)
		VMULPS(scales[i], x, x)
		VMOVUPS(x, Mem{Base: dst, Disp: i * v.bytes()})
	}
	ADDQ(step, src)
	ADDQ(Imm(48), dst)
	countDown(groups, "group")
	finish()
}
