package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx512BF16 has tiles over pairs of bfloat16.
var avx512BF16 = vectors{name: "AVX512BF16", lanes: 16, wide: true, pairs: true, tileRows: avx512.tileRows}

// multiplyAdd adds the products of two vectors to a sum. Products of pairs are added one after the other, the upper
// halves first.
func (v vectors) multiplyAdd(b, x, sum reg.VecVirtual) {
	if v.pairs {
		bfloat16Instruction("VDPBF16PS", []Op{b, x, sum}, sum)
	} else {
		VFMADD231PS(b, x, sum)
	}
}

// bfloat16Instruction writes an instruction of AVX512_BF16, which neither avo nor Go's assembler has. The last operand
// is written. encode turns the instruction into words once its registers are allocated.
func bfloat16Instruction(opcode string, operands []Op, read ...Op) {
	last := len(operands) - 1
	Instruction(&ir.Instruction{Opcode: opcode, Operands: operands, Inputs: append(read, operands[:last]...),
		Outputs: operands[last:], ISA: []string{"AVX512_BF16"}})
}

// bfloat16Instructions are an opcode and the bits of its mandatory prefix. All are EVEX.512.0F38.W0 of three registers.
var bfloat16Instructions = map[string]struct{ opcode, prefix uint32 }{
	"VDPBF16PS":      {0x52, 2},
	"VCVTNE2PS2BF16": {0x72, 3},
}

var bfloat16Line = regexp.MustCompile(`(?m)^\t(VDPBF16PS|VCVTNE2PS2BF16)\s+Z(\d+), Z(\d+), Z(\d+)$`)

// encode replaces the instructions of AVX512_BF16 in a file by their bytes.
func encode(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the assembly: %w", err)
	}
	source = bfloat16Line.ReplaceAllFunc(source, func(line []byte) []byte {
		m := bfloat16Line.FindSubmatch(line)
		var z [3]uint32
		for i := range z {
			n, _ := strconv.ParseUint(string(m[2+i]), 10, 5) // the pattern has digits alone
			z[i] = uint32(n)
		}
		first, second := evex(string(m[1]), z[0], z[1], z[2])
		return fmt.Appendf(nil, "\tLONG $0x%08x; WORD $0x%04x // %s Z%d, Z%d, Z%d", first, second, m[1], z[0], z[1], z[2])
	})
	if err := os.WriteFile(path, source, 0o644); err != nil {
		return fmt.Errorf("cannot write the assembly: %w", err)
	}
	return nil
}

// evex returns the first four and the last two bytes of an instruction. The registers are in the order of Go's
// assembler, the destination last. Upper bits of registers are stored inverted.
func evex(name string, rm, v, destination uint32) (first, second uint32) {
	i := bfloat16Instructions[name]
	inverted := func(x, bit uint32) uint32 { return ^x >> bit & 1 }
	p0 := inverted(destination, 3)<<7 | inverted(rm, 4)<<6 | inverted(rm, 3)<<5 | inverted(destination, 4)<<4 | 2
	p1 := ^v&15<<3 | 1<<2 | i.prefix
	p2 := uint32(2<<5) | inverted(v, 4)<<3
	return 0x62 | p0<<8 | p1<<16 | p2<<24, i.opcode | (0xc0|destination&7<<3|rm&7)<<8
}

// roundBFloat16 writes the kernel of simd.RoundBFloat16 for count numbers. The last pair of an odd count has a zero.
func roundBFloat16() {
	v := avx512
	kernel("roundBFloat16AVX512BF16", "func(dst, src *float32, count int)")
	dst, src, count := load("dst"), load("src"), load("count")
	low, high, pairs := v.register(), v.register(), v.register()
	convert := func() { bfloat16Instruction("VCVTNE2PS2BF16", []Op{low, high, pairs}) }
	step := uint64(2 * v.lanes)
	SUBQ(Imm(step), count)
	JL(LabelRef("rest"))
	Label("vector")
	VMOVUPS(Mem{Base: src}, low)
	VMOVUPS(Mem{Base: src, Disp: v.bytes()}, high)
	convert()
	VMOVUPS(pairs, Mem{Base: dst})
	ADDQ(Imm(uint64(2*v.bytes())), src)
	ADDQ(Imm(uint64(v.bytes())), dst)
	SUBQ(Imm(step), count)
	JGE(LabelRef("vector"))
	Label("rest")
	ADDQ(Imm(step), count)
	JE(LabelRef("end"))
	lowMask, highMask, pairMask := K(), K(), K()
	bits, all := GP32(), GP32()
	MOVL(U32(0xffffffff), all)
	BZHIL(count.(reg.GP).As32(), all, bits)
	KMOVW(bits, lowMask)
	SHRL(Imm(uint64(v.lanes)), bits)
	KMOVW(bits, highMask)
	INCL(count.(reg.GP).As32())
	SHRL(Imm(1), count.(reg.GP).As32())
	BZHIL(count.(reg.GP).As32(), all, bits)
	KMOVW(bits, pairMask)
	VMOVUPS_Z(Mem{Base: src}, lowMask, low)
	VMOVUPS_Z(Mem{Base: src, Disp: v.bytes()}, highMask, high)
	convert()
	VMOVUPS(pairs, pairMask, Mem{Base: dst})
	Label("end")
	finish()
}
