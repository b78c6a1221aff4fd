package neon

// dropout writes the mask of simd.Dropout for batches of two groups of four counters. A lane holds the word of
// one counter.
func dropout(f *file) {
	const groups, rounds = 2, 10
	f.function("dropoutNEON", "func(dst, src *float32, keys [20]uint32, counter, row, threshold uint32, scale float32, "+
		"batches int)", func(k *kernel) {
		dst, src, batches, key, keys := k.load("dst"), k.load("src"), k.load("batches"), k.register(), k.register()
		k.op("MOVD $keys_0+%d(FP), R%d", k.parameters["keys"].offset, keys)
		next, row, threshold, scale := k.loadAll("counter"), k.loadAll("row"), k.loadAll("threshold"), k.loadAll("scale")
		step, multipliers := k.bits(4), k.vector()
		k.scope(func() {
			numbers := k.grid(1, 2)[0]
			k.fill(numbers, k.constant("dropoutNumbers", 0, 1, 2, 3, 0xD2511F53, 0xCD9E8D57, 0, 0), 8)
			k.v("add.4s", next, next, numbers[0])
			k.v("mov.16b", multipliers, numbers[1])
		})
		k.label("batch")
		var counters [groups][]vector
		for g := range counters {
			c := k.grid(1, 4)[0]
			k.v("mov.16b", c[0], next)
			k.v("add.4s", next, next, step)
			k.v("mov.16b", c[1], row)
			k.v("movi.4s", c[2], 0)
			k.v("movi.4s", c[3], 0)
			counters[g] = c
		}
		k.move(keys, key)
		for range rounds {
			k.scope(func() {
				first, second := k.vector(), k.vector()
				k.op("VLD1R.P 4(R%d), [V%d.S4]", key, first)
				k.op("VLD1R.P 4(R%d), [V%d.S4]", key, second)
				for g := range counters {
					k.philoxRound(counters[g], multipliers, first, second)
				}
			})
		}
		for _, c := range counters {
			k.transposeFour(c[0], c[1], c[2], c[3])
			k.scope(func() {
				x := k.take(src, 16)
				for i, words := range c {
					k.v("cmhs.4s", words, words, threshold)
					k.v("and.16b", x[i], x[i], words)
					k.v("fmul.4s", x[i], x[i], scale)
				}
				k.put(x, dst, 16)
			})
		}
		k.countDown(batches, "batch")
	})
}

// philoxRound turns four counters by one round with the two words of key.
func (k *kernel) philoxRound(c []vector, multipliers, first, second vector) {
	k.scope(func() {
		p, q := k.grid(1, 2)[0], k.grid(1, 2)[0]
		for i, op := range []string{"umull.2d.lane", "umull2.2d.lane"} {
			k.v(op, p[i], c[0], multipliers, 0)
			k.v(op, q[i], c[2], multipliers, 1)
		}
		k.v("eor.16b", c[1], c[1], first)
		k.v("eor.16b", c[3], c[3], second)
		k.v("uzp2.4s", c[0], q[0], q[1])
		k.v("uzp2.4s", c[2], p[0], p[1])
		k.v("eor.16b", c[0], c[0], c[1])
		k.v("eor.16b", c[2], c[2], c[3])
		k.v("uzp1.4s", c[1], q[0], q[1])
		k.v("uzp1.4s", c[3], p[0], p[1])
	})
}
