package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// huffmanRun writes the loop of simd.HuffmanRun. Each coefficient waits for the one before: a shift of the
// bits, the look-up, and the shift by the entry's length, which SHLX takes from its lower six bits. Longer
// values are taken aside.
func huffmanRun() {
	const lookBits = 11
	kernel("huffmanRunBMI2", "func(from *byte, next int, acc, n uint64, table *uint32, coefs *int16, order "+
		"*uint8, k int) (nextOut int, accOut, nOut uint64, kOut int)")
	from, next, acc, n := load("from"), load("next"), GP64(), load("n")
	Load(Param("acc"), acc)
	table, coefs, order, k := load("table"), load("coefs"), load("order"), GP64()
	Load(Param("k"), k)
	index, entry, length, at := GP64(), GP64(), GP64(), GP64()
	Label("coefficient")
	CMPQ(n, Imm(32))
	JAE(LabelRef("ready"))
	more, step := GP64(), GP64()
	MOVQ(Mem{Base: from, Index: next, Scale: 1}, more)
	BSWAPQ(more)
	SHRXQ(n, more, more)
	ORQ(more, acc)
	MOVQ(U32(63), step)
	SUBQ(n, step)
	SHRQ(Imm(3), step)
	ADDQ(step, next)
	ORQ(Imm(56), n)
	Label("ready")
	MOVQ(acc, index)
	SHRQ(Imm(64-lookBits), index)
	MOVL(Mem{Base: table, Index: index, Scale: 4}, entry.As32())
	MOVL(entry.As32(), length.As32())
	ANDL(Imm(63), length.As32())
	JE(LabelRef("long"))
	SHLXQ(entry, acc, acc)
	SUBQ(length, n)
	SHRL(Imm(8), entry.As32())
	MOVBLZX(entry.As8(), length.As32())
	SHRL(Imm(8), entry.As32())
	Label("write") // the value in entry, what to advance by in length
	ADDQ(length, k)
	MOVBLZX(k.As8(), at.As32())
	MOVBLZX(Mem{Base: order, Index: at, Scale: 1}, at.As32())
	MOVW(entry.As16(), Mem{Base: coefs, Index: at, Scale: 2})
	CMPQ(k, Imm(64))
	JLT(LabelRef("coefficient"))
	JMP(LabelRef("end"))

	Label("long")
	code, negative := GP64(), GP64()
	MOVL(entry.As32(), length.As32())
	SHRL(Imm(8), entry.As32())
	MOVL(entry.As32(), code.As32())
	SHRL(Imm(8), code.As32())
	MOVBLZX(code.As8(), code.As32())
	TESTL(code.As32(), code.As32())
	JE(LabelRef("end"))
	SHRL(Imm(24), length.As32()) // of the value
	SHLXQ(code, acc, acc)
	SUBQ(code, n)
	SUBQ(length, n)
	// A value that begins with 0 is negative: 1 - 2^length is added.
	MOVQ(acc, negative)
	SHRQ(Imm(63), negative)
	DECQ(negative)
	MOVQ(U32(1), code)
	SHLXQ(length, code, code)
	DECQ(code)
	ANDQ(code, negative)
	XORQ(code, code)
	SUBQ(length, code)
	SHRXQ(code, acc, code)
	SHLXQ(length, acc, acc)
	MOVBLZX(entry.As8(), length.As32())
	SUBQ(negative, code)
	MOVQ(code, entry)
	JMP(LabelRef("write"))
	Label("end")
	Store(next, Return("nextOut"))
	Store(acc, Return("accOut"))
	Store(n, Return("nOut"))
	Store(k, Return("kOut"))
	RET()
}
