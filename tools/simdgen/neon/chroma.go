package neon

// mixRows writes the first loop of simd.DoubleRow, 3·near + far, for groups of 16 samples.
func mixRows(f *file) {
	f.function("mixRowsNEON", "func(mixed *uint16, near, far *uint8, groups int)", func(k *kernel) {
		mixed, near, far, groups, three := k.load("mixed"), k.load("near"), k.load("far"), k.load("groups"),
			k.bits(0x03030303)
		k.repeat(groups, "group", func() {
			x, y, sums := k.take(near, lanes)[0], k.take(far, lanes)[0], k.grid(1, 2)[0]
			k.v("umull.8h", sums[0], x, three)
			k.v("umull2.8h", sums[1], x, three)
			k.v("uaddw.8h", sums[0], sums[0], y)
			k.v("uaddw2.8h", sums[1], sums[1], y)
			k.put(sums, mixed, 2*lanes)
		})
	})
}

// doubleRow writes the second loop of simd.DoubleRow for groups of 16 samples, which become 32. mixed begins
// one before the first. even and odd are in both words.
func doubleRow(f *file) {
	f.function("doubleRowNEON", "func(dst *uint8, mixed *uint16, even, odd uint32, groups int)", func(k *kernel) {
		dst, mixed, groups, next := k.load("dst"), k.load("mixed"), k.load("groups"), k.register()
		round, three := []vector{k.loadAll("even"), k.loadAll("odd")}, k.bits(0x00030003)
		k.repeat(groups, "group", func() {
			k.op("ADD $2, R%d, R%d", mixed, next)
			x, sides := k.peek(next, 2*lanes), [2][]vector{k.peek(mixed, 2*lanes)}
			k.op("ADD $4, R%d, R%d", mixed, next)
			sides[1] = k.peek(next, 2*lanes)
			bytes := k.grid(1, 2)[0]
			for i, side := range sides {
				for j, sum := range side {
					k.v("add.8h", sum, sum, round[i])
					k.v("mla.8h", sum, x[j], three)
				}
				k.v("shrn.8b", bytes[i], side[0], 4)
				k.v("shrn2.16b", bytes[i], side[1], 4)
			}
			k.v("zip1.16b", x[0], bytes[0], bytes[1])
			k.v("zip2.16b", x[1], bytes[0], bytes[1])
			k.put(x, dst, 2*lanes)
			k.op("ADD $32, R%d, R%d", mixed, mixed)
		})
	})
}
