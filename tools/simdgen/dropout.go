package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exclusiveOr is the truth table of a XOR b XOR c.
const exclusiveOr = 0x96

// dropout writes the mask of simd.Dropout for batches of two groups of counters. A counter takes a lane of 64
// bits, which has room for the products of Philox. The bits above a word of 32 bits are never read.
//
// The words of two neighbouring vectors, interleaved, belong to one counter in each 128 bits. Counters are
// dealt to the lanes so that they come out in ascending order.
func dropout(v vectors) {
	kernel("dropout"+v.name, "func(dst, src *float32, keys [20]uint32, counter, row, threshold uint32, scale "+
		"float32, batches int)")
	dst, src, keys, batches := load("dst"), load("src"), firstOf(Param("keys")), load("batches")
	counters := v.lanes / 2
	next, step, row := v.register(), v.register(), v.register()
	broadcastWord(param("counter"), next)
	VPADDQ(v.deal(), next, next)
	broadcastWord(v.constant("step", uint32(counters)), step)
	broadcastWord(param("row"), row)
	multipliers := [2]reg.VecVirtual{v.register(), v.register()}
	broadcastWord(v.constant("multiplier0", 0xD2511F53), multipliers[0])
	broadcastWord(v.constant("multiplier1", 0xCD9E8D57), multipliers[1])

	Label("batch")
	groups := v.grid(2, 4)
	for _, c := range groups {
		v.move(next, c[0])
		VPADDQ(step, next, next)
		v.move(row, c[1])
		v.zero(c[2])
		v.zero(c[3])
	}
	for round := range 10 {
		v.philoxRound(groups, multipliers, Mem{Base: keys, Disp: 8 * round})
	}
	for g, c := range groups {
		for half, words := range v.interleave(c) {
			at := (2*g + half) * v.bytes()
			v.keepWords(words, Mem{Base: src, Disp: at}, Mem{Base: dst, Disp: at})
		}
	}
	ADDQ(U32(4*v.bytes()), src)
	ADDQ(U32(4*v.bytes()), dst)
	countDown(batches, "batch")
	finish()
}

// broadcastWord sets all lanes to a word of memory, by the instruction whose operand size "go vet" has in its
// tables.
func broadcastWord(m Mem, to reg.VecVirtual) { VBROADCASTSS(m, to) }

// constant is a word of read-only memory.
func (v vectors) constant(name string, value uint32) Mem {
	return global(name+v.name, func() { DATA(0, U32(value)) })
}

// deal is the memory of the counters of a group's lanes, less the first.
func (v vectors) deal() Mem {
	return global("deal"+v.name, func() {
		counters := v.lanes / 2
		for lane := range counters {
			DATA(8*lane, U64(lane/2+lane%2*counters/2))
		}
	})
}

func (v vectors) move(from, to reg.VecVirtual) {
	if v.wide {
		VMOVDQA32(from, to)
	} else {
		VMOVDQA(from, to)
	}
}

// philoxRound turns the counters of the groups by one round with the two words of key.
func (v vectors) philoxRound(groups [][]reg.VecVirtual, multipliers [2]reg.VecVirtual, key Mem) {
	second := key
	second.Disp += 4
	words := [2]Mem{key, second}
	for g, c := range groups {
		low, high := v.register(), v.register()
		VPMULUDQ(multipliers[0], c[0], low)
		VPMULUDQ(multipliers[1], c[2], high)
		groups[g] = []reg.VecVirtual{v.mix(high, c[1], words[0]), high, v.mix(low, c[3], words[1]), low}
	}
}

// mix is the upper word of a product XOR other XOR a word of the key.
func (v vectors) mix(product, other reg.VecVirtual, key Mem) reg.VecVirtual {
	x := v.register()
	VPSRLQ(Imm(32), product, x)
	if v.wide {
		VPTERNLOGD_BCST(Imm(exclusiveOr), key, other, x)
		return x
	}
	k := v.register()
	VPBROADCASTD(key, k)
	VPXOR(other, x, x)
	VPXOR(k, x, x)
	return x
}

// interleave turns four vectors of words, one for each counter, to two vectors of four words for each.
func (v vectors) interleave(c []reg.VecVirtual) [2]reg.VecVirtual {
	front, back := v.pair(c[0], c[1]), v.pair(c[2], c[3])
	lower, upper := v.register(), v.register()
	VPUNPCKLQDQ(back, front, lower)
	VPUNPCKHQDQ(back, front, upper)
	return [2]reg.VecVirtual{lower, upper}
}

// pair puts the words of b above the words of a.
func (v vectors) pair(a, b reg.VecVirtual) reg.VecVirtual {
	const doubled, odd = 0xa0, 0xaaaa
	if v.wide {
		k, bits := K(), GP32()
		MOVL(U32(odd), bits)
		KMOVW(bits, k)
		VPSHUFD(Imm(doubled), b, k, a)
		return a
	}
	up, both := v.register(), v.register()
	VPSHUFD(Imm(doubled), b, up)
	VPBLENDD(Imm(odd&0xff), up, a, both)
	return both
}

// keepWords keeps and scales the elements of src whose words reach the threshold, and writes 0 elsewhere.
func (v vectors) keepWords(words reg.VecVirtual, src, dst Mem) {
	threshold, scale, x := v.register(), v.register(), v.register()
	broadcastWord(param("threshold"), threshold)
	VBROADCASTSS(param("scale"), scale)
	if v.wide {
		const notLess = 5
		k := K()
		VPCMPUD(Imm(notLess), threshold, words, k)
		VMULPS_Z(src, scale, k, x)
		VMOVUPS(x, dst)
		return
	}
	VPMAXUD(threshold, words, threshold)
	VPCMPEQD(threshold, words, words)
	VANDPS(src, words, x)
	VMULPS(scale, x, x)
	VMOVUPS(x, dst)
}
