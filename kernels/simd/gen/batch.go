package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// batch writes the kernel of simd.Batch: at each point, tiles of the most rows that the registers hold,
// then tiles of the fewest rows for what is left, a multiple of those. row, to and left are room for
// the counters.
func batch(v vectors) {
	most, fewest := v.tileRows[0], v.tileRows[len(v.tileRows)-1]
	TEXT(label("batch%dx%d%s", most, 2*v.lanes, v.name), NOSPLIT,
		"func(a *float32, aPoint, rows, depth int, panel *float32, panelPoint int, dst *float32, dstPoint, dstStride, points int, row, to *float32, left int)")
	Pragma("noescape")
	for _, name := range []string{"aPoint", "panelPoint", "dstPoint", "dstStride"} {
		SHLQ(Imm(2), param(name))
	}
	Label("point")
	for _, pair := range [][2]string{{"a", "row"}, {"dst", "to"}, {"rows", "left"}} {
		r := load(pair[0])
		MOVQ(r, param(pair[1]))
	}
	Label("most")
	CMPQ(param("left"), Imm(uint64(most)))
	JLT(LabelRef("fewest"))
	v.batchTile("most", most)
	JMP(LabelRef("most"))
	Label("fewest")
	CMPQ(param("left"), Imm(0))
	JLE(LabelRef("next"))
	v.batchTile("fewest", fewest)
	JMP(LabelRef("fewest"))
	Label("next")
	for _, pair := range [][2]string{{"a", "aPoint"}, {"panel", "panelPoint"}, {"dst", "dstPoint"}} {
		r := load(pair[1])
		ADDQ(r, param(pair[0]))
	}
	DECQ(param("points"))
	JNE(LabelRef("point"))
	VZEROUPPER()
	RET()
}

// batchTile multiplies the next rows by the panel of the point and moves on.
func (v vectors) batchTile(name string, rows int) {
	const columns = 2
	acc := v.grid(rows, columns)
	v.zeroGrid(acc)
	stride := loadBytes("depth")
	pointers := make([]reg.GPVirtual, rows)
	last := load("row").(reg.GPVirtual)
	for i := range pointers {
		pointers[i] = GP64()
		LEAQ(Mem{Base: last, Index: stride, Scale: 1}, pointers[i]) // the end of row i
		last = pointers[i]
	}
	MOVQ(last, param("row"))
	panel, index, ahead := load("panel"), load("depth"), GP64()
	MOVQ(last, ahead)
	NEGQ(index)
	Label(name + "_step")
	PREFETCHT0(Mem{Base: ahead})
	ADDQ(Imm(uint64(4*rows)), ahead)
	v.tileStep(acc, pointers, panel, index)
	JNE(LabelRef(name + "_step"))
	dst, to := load("to"), load("dstStride")
	for i := range acc {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: dst, Disp: j * v.bytes()})
		}
		ADDQ(to, dst)
	}
	MOVQ(dst, param("to"))
	SUBQ(Imm(uint64(rows)), param("left"))
}
