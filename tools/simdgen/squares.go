package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumSquares writes the loop of simd.SumSquares for groups of eight values. The square of a float32 is
// exact in float64, so that a fused product rounds no less often.
func sumSquares(v vectors) {
	kernel("sumSquares"+v.name, "func(x *float32, groups int) (sums [8]float64)")
	x, groups := load("x"), load("groups")
	var acc []reg.VecVirtual
	for range 16 / v.lanes {
		acc = append(acc, v.register())
	}
	for _, sum := range acc {
		v.zero(sum)
	}
	Label("group")
	for i, sum := range acc {
		value := v.register()
		VCVTPS2PD(Mem{Base: x, Disp: 2 * i * v.lanes}, value)
		VFMADD231PD(value, value, sum)
	}
	ADDQ(Imm(32), x)
	countDown(groups, "group")
	sums := firstOf(Return("sums"))
	for i, sum := range acc {
		VMOVUPD(sum, Mem{Base: sums, Disp: i * v.bytes()})
	}
	finish()
}
