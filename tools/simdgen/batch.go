package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// batch writes the kernel of simd.Batch: at each point, tiles of the most rows that the registers hold, then
// tiles of the fewest rows for the remaining rows, a multiple of those.
func batch(v vectors) {
	most, fewest := v.tileRows[0], v.tileRows[len(v.tileRows)-1]
	kernel(label("batch%dx%d%s", most, 2*v.lanes, v.name),
		"func(a *float32, aPoint, rows, depth int, panel *float32, panelPoint int, dst *float32, dstPoint, dstStride, "+
			"points int)")
	for _, name := range []string{"aPoint", "panelPoint", "dstPoint", "dstStride"} {
		SHLQ(Imm(2), param(name))
	}
	row, to, left := AllocLocal(8), AllocLocal(8), AllocLocal(8) // values that do not fit the registers
	Label("point")
	MOVQ(load("a"), row)
	MOVQ(load("dst"), to)
	MOVQ(load("rows"), left)
	Label("most")
	CMPQ(left, Imm(uint64(most)))
	JLT(LabelRef("fewest"))
	v.batchTile("most", most, row, to, left)
	JMP(LabelRef("most"))
	Label("fewest")
	CMPQ(left, Imm(0))
	JLE(LabelRef("next"))
	v.batchTile("fewest", fewest, row, to, left)
	JMP(LabelRef("fewest"))
	Label("next")
	for _, pair := range [][2]string{{"a", "aPoint"}, {"panel", "panelPoint"}, {"dst", "dstPoint"}} {
		r := load(pair[1])
		ADDQ(r, param(pair[0]))
	}
	countDown(param("points"), "point")
	finish()
}

// batchTile multiplies the next rows by the panel of the point and moves on.
func (v vectors) batchTile(name string, rows int, row, to, left Mem) {
	const columns = 2
	acc := v.grid(rows, columns)
	v.zeroGrid(acc)
	stride := loadBytes("depth")
	pointers := make([]reg.GPVirtual, rows)
	last := GP64()
	MOVQ(row, last)
	for i := range pointers {
		pointers[i] = GP64()
		LEAQ(Mem{Base: last, Index: stride, Scale: 1}, pointers[i]) // the end of row i
		last = pointers[i]
	}
	MOVQ(last, row)
	panel, index, ahead := load("panel"), load("depth"), GP64()
	MOVQ(last, ahead)
	NEGQ(index)
	Label(name + "_step")
	PREFETCHT0(Mem{Base: ahead})
	ADDQ(Imm(uint64(4*rows)), ahead)
	v.tileStep(acc, pointers, panel, index)
	JNE(LabelRef(name + "_step"))
	dst, next := GP64(), load("dstStride")
	MOVQ(to, dst)
	for i := range acc {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: dst, Disp: j * v.bytes()})
		}
		ADDQ(next, dst)
	}
	MOVQ(dst, to)
	SUBQ(Imm(uint64(rows)), left)
}
