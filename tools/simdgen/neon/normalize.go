package neon

// normalize writes the loop of simd.Normalize for groups of four pixels of three channels. The bytes of a group are
// picked by order out of the 16 at src, which advances by step after each group. mean and scale repeat the channels in
// turn. Four pixels are whole turns, so they stay in registers.
func normalize(f *file) {
	f.function("normalizeNEON",
		"func(dst *float32, src *uint8, step int, order *uint8, mean, scale [16]float32, groups int)", func(k *kernel) {
			dst, src, step, groups := k.load("dst"), k.load("src"), k.load("step"), k.load("groups")
			values := k.spread("word", lanes, lanes)[:3]
			means, scales := k.array("mean", len(values)), k.array("scale", len(values))
			k.scope(func() {
				order, others := k.peek(k.load("order"), lanes)[0], k.bits(0xffffff00) // no byte of the picture
				for _, v := range values {
					k.v("tbl.16b", v, order, v)
					k.v("orr.16b", v, v, others)
				}
			})
			k.repeat(groups, "group", func() {
				bytes, x := k.peek(src, lanes)[0], k.grid(1, len(values))[0]
				k.add(step, src)
				for i := range x {
					k.v("tbl.16b", x[i], bytes, values[i])
					k.v("ucvtf.4s", x[i], x[i])
					k.v("fsub.4s", x[i], x[i], means[i])
					k.v("fmul.4s", x[i], x[i], scales[i])
				}
				k.put(x, dst, len(x)*lanes)
			})
		})
}

// array reads the first vectors of an array among the parameters.
func (k *kernel) array(name string, n int) []vector {
	vectors := k.grid(1, n)[0]
	k.scope(func() {
		at := k.register()
		k.op("MOVD $%s, R%d", k.memory(name), at)
		k.fill(vectors, at, n*lanes)
	})
	return vectors
}
