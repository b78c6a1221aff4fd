package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// walk emits a loop over a row of count float32, which is destroyed: whole vectors first, then the rest, lane
// by lane or under a mask. body handles the float32 at byte offset index. full reports whether that is a
// whole vector. mask is set for the rest of a row in AVX-512 only.
func walk(v vectors, name string, index, count reg.Register, rest reg.OpmaskVirtual, body func(full bool)) {
	XORQ(index, index)
	SUBQ(Imm(uint64(v.lanes)), count)
	JL(LabelRef(name + "_rest"))
	Label(name + "_vector")
	body(true)
	ADDQ(Imm(uint64(v.bytes())), index)
	SUBQ(Imm(uint64(v.lanes)), count)
	JGE(LabelRef(name + "_vector"))
	Label(name + "_rest")
	ADDQ(Imm(uint64(v.lanes)), count)
	JE(LabelRef(name + "_end"))
	if v.wide {
		body(false)
	} else {
		Label(name + "_lane")
		body(false)
		ADDQ(Imm(4), index)
		DECQ(count)
		JNE(LabelRef(name + "_lane"))
	}
	Label(name + "_end")
}

// restMask is the mask of the last, incomplete vector of a row of width float32.
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

// move copies one vector, one lane or one masked vector from memory to memory.
func move(v vectors, full bool, rest reg.OpmaskVirtual, src, dst Mem) {
	switch {
	case full:
		x := v.register()
		VMOVUPS(src, x)
		VMOVUPS(x, dst)
	case v.wide:
		x := v.register()
		VMOVUPS_Z(src, rest, x)
		VMOVUPS(x, rest, dst)
	default:
		x := XMM()
		VMOVSS(src, x)
		VMOVSS(x, dst)
	}
}

func copyRows(v vectors) {
	TEXT("copyRows"+v.name, NOSPLIT, "func(dst *float32, dstStride int, src *float32, srcStride, rows, width int)")
	Pragma("noescape")
	dst, dstStride, src, srcStride, rows := load("dst"), loadBytes("dstStride"), load("src"), loadBytes("srcStride"),
		load("rows")
	index, count, width := GP64(), GP64(), load("width")
	rest := restMask(v, width)
	Label("row")
	MOVQ(width, count)
	walk(v, "copy", index, count, rest, func(full bool) {
		move(v, full, rest, Mem{Base: src, Index: index, Scale: 1}, Mem{Base: dst, Index: index, Scale: 1})
	})
	ADDQ(dstStride, dst)
	ADDQ(srcStride, src)
	DECQ(rows)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// accumulate adds vectors, lanes or masked vectors of memory to dst, in their order.
func accumulate(v vectors, full bool, rest reg.OpmaskVirtual, dst Mem, src ...Mem) {
	switch {
	case full:
		x := v.register()
		VMOVUPS(dst, x)
		for _, m := range src {
			VADDPS(m, x, x)
		}
		VMOVUPS(x, dst)
	case v.wide:
		x := v.register()
		VMOVUPS_Z(dst, rest, x)
		for _, m := range src {
			VADDPS_Z(m, x, rest, x)
		}
		VMOVUPS(x, rest, dst)
	default:
		x := XMM()
		VMOVSS(dst, x)
		for _, m := range src {
			VADDSS(m, x, x)
		}
		VMOVSS(x, dst)
	}
}

// sumRows takes four rows at a time, to read and write dst less often.
func sumRows(v vectors) {
	TEXT("sumRows"+v.name, NOSPLIT, "func(dst *float32, src *float32, stride, rows, width int)")
	Pragma("noescape")
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
	walk(v, "four", index, count, rest, func(full bool) { accumulate(v, full, rest, to, memories(4)...) })
	LEAQ(Mem{Base: at[3], Index: stride, Scale: 1}, at[0])
	SUBQ(Imm(4), rows)
	JGE(LabelRef("four"))
	Label("single")
	ADDQ(Imm(4), rows)
	JE(LabelRef("end"))
	Label("one")
	MOVQ(width, count)
	walk(v, "one", index, count, rest, func(full bool) { accumulate(v, full, rest, to, memories(1)...) })
	ADDQ(stride, at[0])
	DECQ(rows)
	JNE(LabelRef("one"))
	Label("end")
	VZEROUPPER()
	RET()
}

func add(v vectors) {
	TEXT("add"+v.name, NOSPLIT, "func(dst, src *float32, count int)")
	Pragma("noescape")
	dst, src, count, index := load("dst"), load("src"), load("count"), GP64()
	rest := restMask(v, count)
	walk(v, "add", index, count, rest, func(full bool) {
		accumulate(v, full, rest, Mem{Base: dst, Index: index, Scale: 1}, Mem{Base: src, Index: index, Scale: 1})
	})
	VZEROUPPER()
	RET()
}

// transpose writes the transposition of 8 rows, in blocks of 8×8. Both levels use it, because loads and
// stores limit its speed.
func transpose() {
	TEXT("transpose8AVX2", NOSPLIT, "func(dst *float32, dstStride int, src *float32, srcStride, blocks int)")
	Pragma("noescape")
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
	DECQ(blocks)
	JNE(LabelRef("block"))
	VZEROUPPER()
	RET()
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
