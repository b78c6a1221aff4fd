package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"nmn/tools/simdgen/shared"
)

// inverseDCT writes the loop of simd.InverseDCT for pairs of blocks, one in each half of a register. Numbers
// are multiplied in pairs by VPMADDWD, whose sums have 32 bits. Both levels use it.
func inverseDCT() {
	kernel("inverseDCTAVX2", "func(dst *uint8, stride int, coefs *int16, factors *uint16, pairs int)")
	dst, stride, coefs, factors, pairs := load("dst"), load("stride"), load("coefs"), load("factors"), load("pairs")
	spilled := AllocLocal(8 * 32)
	stride3 := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	Label("pair")
	x := ymms(8)
	for i, row := range x {
		factor := YMM()
		VBROADCASTI128(Mem{Base: coefs, Disp: 16 * i}, row)
		VINSERTI128(Imm(1), Mem{Base: coefs, Disp: 128 + 16*i}, row, row)
		VBROADCASTI128(Mem{Base: factors, Disp: 16 * i}, factor)
		VPMULLW(factor, row, row)
	}
	x = dctPass(x, spilled, shared.DCTBits-shared.DCTKeep)
	x = dctPass(transposeWords(x), spilled, shared.DCTBits+shared.DCTKeep+3)
	// The lower half of dst's rows, then the upper one.
	at := GP64()
	MOVQ(dst, at)
	for i, rows := range bytesByRow(x) {
		if i == 2 {
			LEAQ(Mem{Base: at, Index: stride, Scale: 4}, at)
		}
		upper := XMM()
		VPERMQ(Imm(0xd8), rows, rows)
		VEXTRACTI128(Imm(1), rows, upper)
		if i%2 == 0 {
			VMOVDQU(rows.AsX(), Mem{Base: at})
			VMOVDQU(upper, Mem{Base: at, Index: stride, Scale: 1})
		} else {
			VMOVDQU(rows.AsX(), Mem{Base: at, Index: stride, Scale: 2})
			VMOVDQU(upper, Mem{Base: at, Index: stride3, Scale: 1})
		}
	}
	ADDQ(Imm(16), dst)
	ADDQ(U32(256), coefs)
	countDown(pairs, "pair")
	finish()
}

func ymms(n int) []reg.VecVirtual {
	x := make([]reg.VecVirtual, n)
	for i := range x {
		x[i] = YMM()
	}
	return x
}

// wordPair is memory of two 16-bit numbers, over and over.
func wordPair(a, b int) Mem { return wholeWords("dctPair", uint32(uint16(a))|uint32(uint16(b))<<16) }

// wholeWords is memory of a 32-bit number, as often as a register has it.
func wholeWords(prefix string, value uint32) Mem {
	return global(label("%s%08x", prefix, value), func() {
		for lane := range 8 {
			DATA(4*lane, U32(value))
		}
	})
}

// dctPass transforms along the eight registers, of words, and drops shift bits. Each pair of registers is
// interleaved once; the upper words of the results wait in memory for the lower ones.
func dctPass(x []reg.VecVirtual, spilled Mem, shift int) []reg.VecVirtual {
	halves := [2][4]reg.VecVirtual{}
	for i, pair := range [4][2]int{{0, 4}, {2, 6}, {1, 3}, {5, 7}} {
		low, high := YMM(), YMM()
		VPUNPCKLWD(x[pair[1]], x[pair[0]], low)
		VPUNPCKHWD(x[pair[1]], x[pair[0]], high)
		halves[0][i], halves[1][i] = low, high
	}
	dctHalf(halves[1], shift, func(i int, sum reg.VecVirtual) {
		VMOVDQU(sum, spilled.Offset(32*i))
	})
	dctHalf(halves[0], shift, func(i int, sum reg.VecVirtual) {
		VPACKSSDW(spilled.Offset(32*i), sum, sum)
		x[i] = sum
	})
	return x
}

// dctHalf computes four words of each of the eight results from the pairs of inputs 0 and 4, 2 and 6, 1 and
// 3, 5 and 7, and hands them on as 32-bit numbers.
func dctHalf(pairs [4]reg.VecVirtual, shift int, result func(i int, sum reg.VecVirtual)) {
	times := func(pair reg.VecVirtual, a, b int) reg.VecVirtual {
		product := YMM()
		VPMADDWD(wordPair(a, b), pair, product)
		return product
	}
	half := wholeWords("dctHalf", 1<<(shift-1))
	even := ymms(4)
	for i, sign := range [2]int{1, -1} {
		sum := times(pairs[0], 1<<shared.DCTBits, sign<<shared.DCTBits)
		turned := times(pairs[1], shared.DCTEven[i][0], shared.DCTEven[i][1])
		VPADDD(half, sum, sum)
		VPADDD(turned, sum, even[i])
		VPSUBD(turned, sum, even[3-i])
	}
	for i, e := range even {
		odd, other, sum := times(pairs[2], shared.DCTOdd[i][0], shared.DCTOdd[i][1]), times(pairs[3], shared.DCTOdd[i][2], shared.DCTOdd[i][3]), YMM()
		VPADDD(other, odd, odd)
		VPADDD(odd, e, sum)
		VPSRAD(Imm(uint64(shift)), sum, sum)
		result(i, sum)
		VPSUBD(odd, e, e)
		VPSRAD(Imm(uint64(shift)), e, e)
		result(7-i, e)
	}
}

// interleave makes a register of the lower parts of two others by turns, and one of the upper ones.
func interleave(low, high func(ops ...Op), a, b reg.VecVirtual) (reg.VecVirtual, reg.VecVirtual) {
	x, y := YMM(), YMM()
	low(b, a, x)
	high(b, a, y)
	return x, y
}

// transposeWords transposes the 8×8 words in each half of eight registers.
func transposeWords(x []reg.VecVirtual) []reg.VecVirtual {
	words, doubles, y := ymms(8), ymms(8), ymms(8)
	for i := range 4 {
		words[2*i], words[2*i+1] = interleave(VPUNPCKLWD, VPUNPCKHWD, x[2*i], x[2*i+1])
	}
	for i := range 2 {
		for j := range 2 {
			doubles[4*i+2*j], doubles[4*i+2*j+1] = interleave(VPUNPCKLDQ, VPUNPCKHDQ, words[4*i+j], words[4*i+2+j])
		}
	}
	for i := range 4 {
		y[2*i], y[2*i+1] = interleave(VPUNPCKLQDQ, VPUNPCKHQDQ, doubles[i], doubles[4+i])
	}
	return y
}

// bytesByRow turns eight columns of eight words in each half into bytes around 128, and into four registers
// of two rows each.
func bytesByRow(x []reg.VecVirtual) []reg.VecVirtual {
	middle := wholeWords("dctMiddle", 0x80808080)
	for i := range 4 {
		VPACKSSWB(x[4+i], x[i], x[i])
		VPADDB(middle, x[i], x[i])
	}
	a, b := interleave(VPUNPCKLBW, VPUNPCKHBW, x[0], x[1]) // columns 0 and 1, 4 and 5
	c, d := interleave(VPUNPCKLBW, VPUNPCKHBW, x[2], x[3]) // 2 and 3, 6 and 7
	e, f := interleave(VPUNPCKLWD, VPUNPCKHWD, a, c)       // 0 to 3 of the upper rows, of the lower ones
	g, h := interleave(VPUNPCKLWD, VPUNPCKHWD, b, d)       // 4 to 7
	y := ymms(4)
	y[0], y[1] = interleave(VPUNPCKLDQ, VPUNPCKHDQ, e, g)
	y[2], y[3] = interleave(VPUNPCKLDQ, VPUNPCKHDQ, f, h)
	return y
}
