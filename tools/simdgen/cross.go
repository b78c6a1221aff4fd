package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cacheLine is the number of bytes of one prefetch.
const cacheLine = 64

// cross writes the kernel of simd.Cross: bands of rows, each summed in registers over all of depth. The
// parameters count the bands.
func cross(v vectors, rows, columns int) {
	kernel(label("cross%dx%d%s", rows, columns*v.lanes, v.name),
		"func(a *float32, aStride int, b *float32, bStride, depth int, dst *float32, "+
			"dstStride, bands, flags int, ahead *float32, aheadStride int)")
	Label("band")
	acc := v.grid(rows, columns)
	v.zeroGrid(acc)
	a, aStride, b, bStride, depth := load("a"), loadBytes("aStride"), load("b"), loadBytes("bStride"), load("depth")
	ahead, aheadStride := load("ahead"), loadBytes("aheadStride")
	Label("step")
	PREFETCHT1(Mem{Base: ahead})
	row := v.grid(1, columns)[0]
	for j := range row {
		VMOVUPS(Mem{Base: b, Disp: j * v.bytes()}, row[j])
	}
	for i := range acc {
		x := v.register()
		VBROADCASTSS(Mem{Base: a, Disp: 4 * i}, x)
		for j := range row {
			VFMADD231PS(row[j], x, acc[i][j])
		}
	}
	ADDQ(aStride, a)
	ADDQ(bStride, b)
	ADDQ(aheadStride, ahead)
	countDown(depth, "step")
	dst, dstStride := load("dst"), loadBytes("dstStride")
	whereFlag(flagLoad, "added", func() {
		v.eachOf(acc, dst, dstStride, func(m Mem, r reg.VecVirtual) { VADDPS(m, r, r) })
		Load(Param("dst"), dst)
	})
	v.eachOf(acc, dst, dstStride, func(m Mem, r reg.VecVirtual) { VMOVUPS(r, m) })
	MOVQ(dst, param("dst"))
	ADDQ(Imm(uint64(4*rows)), param("a"))
	ADDQ(Imm(cacheLine), param("ahead"))
	countDown(param("bands"), "band")
	finish()
}

// eachOf emits body for the registers of a grid and their places in memory, and moves dst past the last row.
func (v vectors) eachOf(acc [][]reg.VecVirtual, dst, stride reg.Register, body func(m Mem, r reg.VecVirtual)) {
	for i := range acc {
		for j := range acc[i] {
			body(Mem{Base: dst, Disp: j * v.bytes()}, acc[i][j])
		}
		ADDQ(stride, dst)
	}
}
