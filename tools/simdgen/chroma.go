package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// mixRows writes the first loop of simd.DoubleRow, 3·near + far, for groups of 16 samples.
func mixRows() {
	kernel("mixRowsAVX2", "func(mixed *uint16, near, far *uint8, groups int)")
	mixed, near, far, groups := load("mixed"), load("near"), load("far"), load("groups")
	Label("group")
	x, y, sum := YMM(), YMM(), YMM()
	VPMOVZXBW(Mem{Base: near}, x)
	VPMOVZXBW(Mem{Base: far}, y)
	VPADDW(x, x, sum)
	VPADDW(x, sum, sum)
	VPADDW(y, sum, sum)
	VMOVDQU(sum, Mem{Base: mixed})
	ADDQ(Imm(16), near)
	ADDQ(Imm(16), far)
	ADDQ(Imm(32), mixed)
	countDown(groups, "group")
	finish()
}

// doubleRow writes the second loop of simd.DoubleRow for groups of 16 samples, which become 32. mixed begins
// one before the first. even and odd are in both words.
func doubleRow() {
	kernel("doubleRowAVX2", "func(dst *uint8, mixed *uint16, even, odd uint32, groups int)")
	dst, mixed, groups := load("dst"), load("mixed"), load("groups")
	even, odd := YMM(), YMM()
	broadcastWord(param("even"), even)
	broadcastWord(param("odd"), odd)
	Label("group")
	x, left, right := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: mixed, Disp: 2}, x)
	VPADDW(x, x, left)
	VPADDW(left, x, x)
	VPADDW(Mem{Base: mixed}, x, left)
	VPADDW(Mem{Base: mixed, Disp: 4}, x, right)
	VPADDW(even, left, left)
	VPADDW(odd, right, right)
	VPSRLW(Imm(4), left, left)
	VPSRLW(Imm(4), right, right)
	VPSLLW(Imm(8), right, right) // samples are bytes: an odd one goes above its even one
	VPOR(left, right, right)
	VMOVDQU(right, Mem{Base: dst})
	ADDQ(Imm(32), mixed)
	ADDQ(Imm(32), dst)
	countDown(groups, "group")
	finish()
}
