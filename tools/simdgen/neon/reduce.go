package neon

import (
	"fmt"

	"nmn/tools/simdgen/shared"
)

const absent = 0xff // an index of tbl that gives 0

// reduceRows writes the loop of simd.ReduceRows for four rows and count positions. The bytes of a pixel become a vector
// of words, whose products with a weight have 32 bits. A pixel's store writes one byte after its own, which the next
// one overwrites.
func reduceRows(f *file) {
	f.function("reduceRowsNEON",
		"func(dst *uint8, dstStride int, src *uint8, srcStride int, first *int32, pairs *uint16, groups, count int)",
		func(k *kernel) {
			dst, dstStride, src, srcStride := k.load("dst"), k.load("dstStride"), k.load("src"), k.load("srcStride")
			first, pairs, groups, count := k.load("first"), k.load("pairs"), k.load("groups"), k.load("count")
			pixels := k.spread("pixel", 3, 3)
			half, sums := k.bits(1<<(shared.ReduceBits-1)), k.grid(1, 4)[0]
			rows := []register{k.register(), k.register(), k.register(), k.register()}
			left := k.register()
			k.label("pixel")
			k.op("MOVW.P 4(R%d), R%d", first, rows[0])
			k.add(src, rows[0])
			for i, row := range rows[1:] {
				k.op("ADD R%d, R%d, R%d", srcStride, rows[i], row)
			}
			k.move(groups, left)
			for _, sum := range sums {
				k.v("mov.16b", sum, half)
			}
			k.repeat(left, "group", func() {
				weights, lower := k.take(pairs, lanes)[0], k.vector()
				k.v("uzp2.4s", lower, weights, weights)
				k.v("uzp1.4s", weights, weights, weights)
				k.v("sshll.4s", weights, weights, shared.ReduceLow)
				k.v("uaddw.4s", weights, weights, lower)
				for i, row := range rows {
					k.scope(func() {
						bytes := k.vector()
						k.op("FMOVQ.P 12(R%d), F%d", row, bytes)
						k.weigh([]vector{sums[i], sums[i], sums[i], sums[i]}, bytes, pixels, weights, 0, 1, 2, 3)
					})
				}
			})
			k.v("uzp2.8h", sums[0], sums[0], sums[1])
			k.v("uzp2.8h", sums[2], sums[2], sums[3])
			k.v("sqshrun.8b", sums[0], sums[0], shared.ReduceBits-16)
			k.v("sqshrun2.16b", sums[0], sums[2], shared.ReduceBits-16)
			k.move(dst, left)
			for i := range 4 {
				k.op("VST1 V%d.S[%d], (R%d)", sums[0], i, left)
				if i < 3 {
					k.add(dstStride, left)
				}
			}
			k.op("ADD $3, R%d, R%d", dst, dst)
			k.countDown(count, "pixel")
		})
}

// spread returns indices for four groups of bytes among 16, step apart. Each of the first used bytes of a group becomes
// a word, and the others 0.
func (k *kernel) spread(name string, step, used int) []vector {
	var groups []vector
	for g := range 4 {
		var index [16]uint8
		for i := range index {
			index[i] = absent
			if i%4 == 0 && i/4 < used {
				index[i] = uint8(step*g + i/4)
			}
		}
		groups = append(groups, k.table(fmt.Sprintf("%s%d", name, g), index))
	}
	return groups
}

// weigh adds to each sum the words of a group of bytes, multiplied by a lane of the weights.
func (k *kernel) weigh(sums []vector, bytes vector, groups []vector, weights vector, lanes ...int) {
	for i, group := range groups {
		k.scope(func() {
			x := k.vector()
			k.v("tbl.16b", x, bytes, group)
			k.v("mla.4s.lane", sums[i], x, weights, lanes[i])
		})
	}
}

// reduceColumns writes the loop of simd.ReduceColumns for batches of 32 bytes, from the given number of pairs of rows.
func reduceColumns(f *file) {
	const batch = 32
	f.function("reduceColumnsNEON", "func(dst, src *uint8, stride int, pairs *uint16, count, batches int)",
		func(k *kernel) {
			dst, src, stride, pairs, count, batches := k.load("dst"), k.load("src"), k.load("stride"), k.load("pairs"),
				k.load("count"), k.load("batches")
			row, weight, left := k.register(), k.register(), k.register()
			words, half, sums := k.spread("word", lanes, lanes), k.bits(1<<(shared.ReduceBits-1)), k.grid(2, 4)
			k.label("batch")
			k.move(src, row)
			k.move(pairs, weight)
			k.move(count, left)
			for _, quarter := range sums {
				for _, sum := range quarter {
					k.v("mov.16b", sum, half)
				}
			}
			k.repeat(left, "pair", func() {
				weights, lower := k.vector(), k.vector()
				k.op("FMOVD.P %d(R%d), F%d", shared.PairBytes, weight, lower)
				k.v("sshll.4s", weights, lower, shared.ReduceLow)
				k.v("ushll.4s", lower, lower, 0)
				k.v("dup.2d", lower, lower, 1)
				k.v("add.4s", weights, weights, lower)
				for i := range 2 {
					k.scope(func() {
						for j, bytes := range k.peek(row, batch/4) {
							k.weigh(sums[j], bytes, words, weights, i, i, i, i)
						}
					})
					k.add(stride, row)
				}
			})
			for _, s := range sums {
				k.v("uzp2.8h", s[0], s[0], s[1])
				k.v("uzp2.8h", s[2], s[2], s[3])
				k.v("sqshrun.8b", s[0], s[0], shared.ReduceBits-16)
				k.v("sqshrun2.16b", s[0], s[2], shared.ReduceBits-16)
			}
			k.put([]vector{sums[0][0], sums[1][0]}, dst, batch/4)
			k.op("ADD $%d, R%d, R%d", batch, src, src)
			k.countDown(batches, "batch")
		})
}
