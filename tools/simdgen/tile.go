package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Flags of a tile, equal to package simd's.
const (
	flagLoad = 1
	flagReLU = 2
)

// notLessEqual is the comparison !(a <= b), true for NaN and quiet.
const notLessEqual = 0x16

// tile writes the kernel of simd.Tile for rows × (columns vectors) outputs. Each step of the reduction
// broadcasts one input of each row and multiplies it with a row of the panel. The row pointers stay in
// registers for a whole tap and share one index, which counts up to 0.
func tile(v vectors, rows, columns int) {
	kernel(label("tile%dx%d%s", rows, columns*v.lanes, v.name),
		"func(a *float32, offsets *int, panel *float32, taps, depth, tapStride, panelSkip int, dst *float32, dstStride, "+
			"rows int, bias, mask *float32, flags int, from *float32, next int, ahead *float32)")
	acc := v.grid(rows, columns)
	v.zeroGrid(acc)
	loadRows(v, acc, "from")
	asked := beginAsking()

	Comment("Row pointers: a + 4*(offset + depth)")
	CMPQ(param("taps"), Imm(0))
	JLE(LabelRef("finish"))
	CMPQ(param("depth"), Imm(0))
	JLE(LabelRef("finish"))
	pointers := make([]reg.GPVirtual, rows)
	base, offsets := loadBytes("depth"), load("offsets")
	ADDQ(param("a"), base)
	for i := range pointers {
		pointers[i] = GP64()
		MOVQ(Mem{Base: offsets, Disp: 8 * i}, pointers[i])
		LEAQ(Mem{Base: base, Index: pointers[i], Scale: 4}, pointers[i])
	}
	panel, index, ahead := load("panel"), GP64(), load("ahead")

	Label("tap")
	asked.rows(v, 2, columns)
	MOVQ(param("depth"), index)
	NEGQ(index)
	Label("step")
	PREFETCHT0(Mem{Base: ahead})
	ADDQ(Imm(uint64(4*rows)), ahead)
	v.tileStep(acc, pointers, panel, index)
	JNE(LabelRef("step"))
	stride := loadBytes("tapStride")
	for i := range pointers {
		ADDQ(stride, pointers[i])
	}
	ADDQ(loadBytes("panelSkip"), panel)
	countDown(param("taps"), "tap")

	Label("finish")
	addBias(v, acc)
	clamp(v, acc)
	maskRows(v, acc)
	storeDst(v, acc)
}

// tileStep adds the products of one value of each row with a row of the panel, and counts the index up.
func (v vectors) tileStep(acc [][]reg.VecVirtual, pointers []reg.GPVirtual, panel, index reg.Register) {
	b := v.grid(1, len(acc[0]))[0]
	for j := range b {
		VMOVUPS(Mem{Base: panel, Disp: j * v.bytes()}, b[j])
	}
	for i := range pointers {
		x := v.register()
		VBROADCASTSS(Mem{Base: pointers[i], Index: index, Scale: 4}, x)
		for j := range b {
			v.multiplyAdd(b[j], x, acc[i][j])
		}
	}
	ADDQ(Imm(uint64(len(b)*v.bytes())), panel)
	INCQ(index)
}

// asking is memory for values that do not fit the registers: the start of the next rows to prefetch in dst,
// from and mask, or 0 if there are none.
type asking struct{ dst, from, mask Mem }

// beginAsking computes where the next tile's sums, start values and masks begin. The parameter next is their
// distance from this tile's. From then on it counts bytes between rows.
func beginAsking() asking {
	Comment("Lines of the next tile")
	a := asking{AllocLocal(8), AllocLocal(8), AllocLocal(8)}
	for _, room := range []Mem{a.dst, a.from, a.mask} {
		MOVQ(U32(0), room)
	}
	next := loadBytes("next")
	TESTQ(next, next)
	JE(LabelRef("asked"))
	find := func(array string, room Mem) {
		at := load(array)
		ADDQ(next, at)
		MOVQ(at, room)
	}
	find("dst", a.dst)
	CMPQ(param("mask"), Imm(0))
	JE(LabelRef("begins"))
	find("mask", a.mask)
	Label("begins")
	from := load("from")
	CMPQ(from, param("dst")) // the same lines
	JE(LabelRef("strides"))
	TESTQ(U32(flagLoad), load("flags"))
	JE(LabelRef("strides"))
	find("from", a.from)
	Label("strides")
	MOVQ(loadBytes("dstStride"), param("next"))
	Label("asked")
	return a
}

// rows prefetches the next rows. They are few, so that the tile's own reads need not wait for them.
func (a asking) rows(v vectors, rows, columns int) {
	for i, room := range []Mem{a.dst, a.from, a.mask} {
		name, at := fmt.Sprintf("room%d", i), GP64()
		MOVQ(room, at)
		TESTQ(at, at)
		JE(LabelRef(name + "_asked"))
		for range rows {
			for line := 0; line < columns*v.bytes(); line += cacheLine {
				PREFETCHT0(Mem{Base: at, Disp: line})
			}
			ADDQ(param("next"), at)
		}
		MOVQ(at, room)
		Label(name + "_asked")
	}
}

// loadRows begins the sums with rows of a parameter, dstStride apart, if the flag is set.
func loadRows(v vectors, acc [][]reg.VecVirtual, name string) {
	Comment("Begin with " + name)
	TESTQ(U32(flagLoad), load("flags"))
	JE(LabelRef("begun"))
	dst, stride, count := load(name), loadBytes("dstStride"), load("rows")
	eachRow(len(acc), count, "begun", func(i int) {
		for j := range acc[i] {
			VMOVUPS(Mem{Base: dst, Disp: j * v.bytes()}, acc[i][j])
		}
	}, func() { ADDQ(stride, dst) })
}

// storeDst stores the sums and ends the function.
func storeDst(v vectors, acc [][]reg.VecVirtual) {
	Comment("Store")
	dst, stride, count := load("dst"), loadBytes("dstStride"), load("rows")
	eachRow(len(acc), count, "stored", func(i int) {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: dst, Disp: j * v.bytes()})
		}
	}, func() { ADDQ(stride, dst) })
	finish()
}

func addBias(v vectors, acc [][]reg.VecVirtual) {
	Comment("Bias")
	bias := load("bias")
	TESTQ(bias, bias)
	JE(LabelRef("biased"))
	for j := range acc[0] {
		b := v.register()
		VMOVUPS(Mem{Base: bias, Disp: j * v.bytes()}, b)
		for i := range acc {
			VADDPS(b, acc[i][j], acc[i][j])
		}
	}
	Label("biased")
}

// clamp is max(x, 0). The instruction returns its second source if one is NaN: that must be x.
func clamp(v vectors, acc [][]reg.VecVirtual) {
	Comment("ReLU")
	TESTQ(U32(flagReLU), load("flags"))
	JE(LabelRef("clamped"))
	zero := v.register()
	v.zero(zero)
	for i := range acc {
		for j := range acc[i] {
			VMAXPS(acc[i][j], zero, acc[i][j])
		}
	}
	Label("clamped")
}

func maskRows(v vectors, acc [][]reg.VecVirtual) {
	Comment("Mask")
	mask := load("mask")
	TESTQ(mask, mask)
	JE(LabelRef("masked"))
	stride, count, zero := loadBytes("dstStride"), load("rows"), v.register()
	v.zero(zero)
	eachRow(len(acc), count, "masked", func(i int) {
		for j := range acc[i] {
			m := v.register()
			VMOVUPS(Mem{Base: mask, Disp: j * v.bytes()}, m)
			v.keep(m, zero, acc[i][j])
		}
	}, func() { ADDQ(stride, mask) })
}

// keep zeroes x wherever m <= 0.
func (v vectors) keep(m, zero, x reg.VecVirtual) {
	if v.wide {
		k := K()
		VCMPPS(Imm(notLessEqual), zero, m, k)
		VMOVAPS_Z(x, k, x)
		return
	}
	VCMPPS(Imm(notLessEqual), zero, m, m)
	VANDPS(m, x, x)
}

// outer writes the kernel of simd.Sum: each step multiplies rows neighbouring values of a with a row of
// the panel.
func outer(v vectors, rows, columns int) {
	kernel(label("outer%dx%d%s", rows, columns*v.lanes, v.name),
		"func(a *float32, aStride int, panel *float32, depth int, dst *float32, dstStride, rows, flags int)")
	acc := v.grid(rows, columns)
	v.zeroGrid(acc)
	loadRows(v, acc, "dst")

	a, stride, panel, depth := load("a"), loadBytes("aStride"), load("panel"), load("depth")
	TESTQ(depth, depth)
	JLE(LabelRef("finish"))
	Label("step")
	b := v.grid(1, columns)[0]
	for j := range b {
		VMOVUPS(Mem{Base: panel, Disp: j * v.bytes()}, b[j])
	}
	for i := range acc {
		x := v.register()
		VBROADCASTSS(Mem{Base: a, Disp: 4 * i}, x)
		for j := range b {
			VFMADD231PS(b[j], x, acc[i][j])
		}
	}
	ADDQ(stride, a)
	ADDQ(Imm(uint64(columns*v.bytes())), panel)
	countDown(depth, "step")

	Label("finish")
	storeDst(v, acc)
}
