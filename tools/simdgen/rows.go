package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectorLoop emits a loop over count float32, which is destroyed: body for each vector of some lanes, then for the
// incomplete one, if any. Indices advance by the bytes of a vector. full reports whether the vector is whole.
func vectorLoop(name, end string, lanes int, count reg.Register, body func(full bool), indices ...reg.Register) {
	SUBQ(Imm(uint64(lanes)), count)
	JL(LabelRef(name + "rest"))
	Label(name + "vector")
	body(true)
	for _, index := range indices {
		ADDQ(Imm(uint64(4*lanes)), index)
	}
	SUBQ(Imm(uint64(lanes)), count)
	JGE(LabelRef(name + "vector"))
	Label(name + "rest")
	ADDQ(Imm(uint64(lanes)), count)
	JE(LabelRef(name + end))
	body(false)
	Label(name + end)
}

// walk emits a loop over a row of count float32, which is destroyed: whole vectors first, then the rest, lane
// by lane or under a mask. body handles the float32 at byte offset index. full reports whether that is a
// whole vector.
func walk(v vectors, name string, index, count reg.Register, body func(full bool)) {
	XORQ(index, index)
	vectorLoop(name+"_", "end", v.lanes, count, func(full bool) {
		if full || v.wide {
			body(full)
			return
		}
		Label(name + "_lane")
		body(false)
		ADDQ(Imm(4), index)
		countDown(count, name+"_lane")
	}, index)
}

// restMask is the mask of the last, incomplete vector of a row of width float32. Only AVX-512 has it.
func restMask(v vectors, width reg.Register) reg.OpmaskVirtual {
	if !v.wide {
		return nil
	}
	return v.opmask(width, v.lanes)
}

// opmask is the mask of the rest of width if lanes of it, a power of two, are taken at a time.
func (v vectors) opmask(width reg.Register, lanes int) reg.OpmaskVirtual {
	k, bits, one := K(), reg.ECX, GP32()
	MOVL(width.(reg.GP).As32(), bits)
	ANDL(Imm(uint64(lanes-1)), bits)
	MOVL(U32(1), one)
	SHLL(reg.CL, one)
	DECL(one)
	KMOVW(one, k)
	return k
}

// operation is an instruction for vectors, for vectors under a mask and for single lanes.
type operation struct {
	whole, lane func(ops ...Op)
	masked      func(a, b, mask, result Op)
}

// fold writes src, after an operation with each operand in turn, to dst: one vector, one lane or one masked vector.
func fold(v vectors, full bool, rest reg.OpmaskVirtual, src, dst Mem, by operation, operands ...Mem) {
	switch {
	case full:
		x := v.register()
		VMOVUPS(src, x)
		for _, m := range operands {
			by.whole(m, x, x)
		}
		VMOVUPS(x, dst)
	case v.wide:
		x := v.register()
		VMOVUPS_Z(src, rest, x)
		for _, m := range operands {
			by.masked(m, x, rest, x)
		}
		VMOVUPS(x, rest, dst)
	default:
		x := XMM()
		VMOVSS(src, x)
		for _, m := range operands {
			by.lane(m, x, x)
		}
		VMOVSS(x, dst)
	}
}

func copyRows(v vectors) {
	kernel("copyRows"+v.name, "func(dst *float32, dstStride int, src *float32, srcStride, rows, width int)")
	dst, dstStride, src, srcStride, rows := load("dst"), loadBytes("dstStride"), load("src"), loadBytes("srcStride"),
		load("rows")
	index, count, width := GP64(), GP64(), load("width")
	rest := restMask(v, width)
	Label("row")
	MOVQ(width, count)
	walk(v, "copy", index, count, func(full bool) {
		fold(v, full, rest, Mem{Base: src, Index: index, Scale: 1}, Mem{Base: dst, Index: index, Scale: 1}, operation{})
	})
	ADDQ(dstStride, dst)
	ADDQ(srcStride, src)
	countDown(rows, "row")
	finish()
}

// accumulate adds vectors, lanes or masked vectors of memory to dst, in their order.
func accumulate(v vectors, full bool, rest reg.OpmaskVirtual, dst Mem, src ...Mem) {
	fold(v, full, rest, dst, dst, operation{whole: VADDPS, lane: VADDSS, masked: VADDPS_Z}, src...)
}

// sumRows takes four rows at a time, to read and write dst less often.
func sumRows(v vectors) {
	kernel("sumRows"+v.name, "func(dst *float32, src *float32, stride, rows, width int)")
	dst, stride, rows := load("dst"), loadBytes("stride"), load("rows")
	index, count, width := GP64(), GP64(), load("width")
	rest := restMask(v, width)
	at := []reg.GPVirtual{GP64(), GP64(), GP64(), GP64()}
	Load(Param("src"), at[0])
	memories := func(n int) []Mem {
		m := make([]Mem, n)
		for i := range m {
			m[i] = Mem{Base: at[i], Index: index, Scale: 1}
		}
		return m
	}
	to := Mem{Base: dst, Index: index, Scale: 1}
	SUBQ(Imm(4), rows)
	JL(LabelRef("single"))
	Label("four")
	for i := 1; i < 4; i++ {
		LEAQ(Mem{Base: at[i-1], Index: stride, Scale: 1}, at[i])
	}
	MOVQ(width, count)
	walk(v, "four", index, count, func(full bool) { accumulate(v, full, rest, to, memories(4)...) })
	LEAQ(Mem{Base: at[3], Index: stride, Scale: 1}, at[0])
	SUBQ(Imm(4), rows)
	JGE(LabelRef("four"))
	Label("single")
	ADDQ(Imm(4), rows)
	JE(LabelRef("end"))
	Label("one")
	MOVQ(width, count)
	walk(v, "one", index, count, func(full bool) { accumulate(v, full, rest, to, memories(1)...) })
	ADDQ(stride, at[0])
	countDown(rows, "one")
	Label("end")
	finish()
}

func add(v vectors) {
	kernel("add"+v.name, "func(dst, src *float32, count int)")
	dst, src, count, index := load("dst"), load("src"), load("count"), GP64()
	rest := restMask(v, count)
	walk(v, "add", index, count, func(full bool) {
		accumulate(v, full, rest, Mem{Base: dst, Index: index, Scale: 1}, Mem{Base: src, Index: index, Scale: 1})
	})
	finish()
}

// transpose writes the transposition of 8 rows, in blocks of 8×8. Both levels use it, because loads and
// stores limit its speed.
func transpose() {
	kernel("transpose8AVX2", "func(dst *float32, dstStride int, src *float32, srcStride, blocks int)")
	dst, dstStride, src, srcStride, blocks := load("dst"), loadBytes("dstStride"), load("src"), loadBytes("srcStride"),
		load("blocks")
	Label("block")
	rows := make([]reg.VecVirtual, 8)
	at := GP64()
	MOVQ(src, at)
	for i := range rows {
		rows[i] = YMM()
		VMOVUPS(Mem{Base: at}, rows[i])
		if i < 7 {
			ADDQ(srcStride, at)
		}
	}
	for _, column := range transposed(rows) {
		VMOVUPS(column, Mem{Base: dst})
		ADDQ(dstStride, dst)
	}
	ADDQ(Imm(32), src)
	countDown(blocks, "block")
	finish()
}

// transposed returns the columns of eight rows: pairs, then fours, then halves change places.
func transposed(rows []reg.VecVirtual) []reg.VecVirtual {
	pairs := make([]reg.VecVirtual, 8)
	for i := 0; i < 8; i += 2 {
		pairs[i], pairs[i+1] = YMM(), YMM()
		VUNPCKLPS(rows[i+1], rows[i], pairs[i])
		VUNPCKHPS(rows[i+1], rows[i], pairs[i+1])
	}
	fours := make([]reg.VecVirtual, 8) // columns 0 1 2 3 (and 4 5 6 7 above) of rows 0-3, then of rows 4-7
	for half := range 2 {
		p := pairs[4*half:]
		for i := range 4 {
			fours[4*half+i] = YMM()
		}
		f := fours[4*half:]
		VSHUFPS(Imm(0x44), p[2], p[0], f[0])
		VSHUFPS(Imm(0xee), p[2], p[0], f[1])
		VSHUFPS(Imm(0x44), p[3], p[1], f[2])
		VSHUFPS(Imm(0xee), p[3], p[1], f[3])
	}
	columns := make([]reg.VecVirtual, 8)
	for i := range 4 {
		columns[i], columns[i+4] = YMM(), YMM()
		VPERM2F128(Imm(0x20), fours[4+i], fours[i], columns[i])
		VPERM2F128(Imm(0x31), fours[4+i], fours[i], columns[i+4])
	}
	return columns
}
