package neon

import "nmn/tools/simdgen/shared"

// resampleRow writes the loop of simd.ResampleRow for count pixels. The eight bytes from the first pixel on hold both
// pixels, whose channels become words. A pixel's store writes another quarter after its own, which the next one
// overwrites.
func resampleRow(f *file) {
	f.function("resampleRowNEON", "func(dst *uint32, src *uint8, first *int32, weights *uint32, count int)",
		func(k *kernel) {
			w := k.vector() // one of the first, because its lanes are words
			dst, src, first, weights, count, at := k.load("dst"), k.load("src"), k.load("first"), k.load("weights"),
				k.load("count"), k.register()
			pixels := k.table("twoPixels", [16]uint8{0, absent, 1, absent, 2, absent, absent, absent, 3, absent, 4, absent, 5,
				absent, absent, absent})
			x, y := k.vector(), k.vector()
			k.label("pixel")
			k.op("MOVW.P 4(R%d), R%d", first, at)
			k.op("FMOVS.P 4(R%d), F%d", weights, w)
			k.op("FMOVD (R%d)(R%d), F%d", src, at, x)
			k.v("tbl.16b", x, x, pixels)
			k.v("umull.4s.lane", y, x, w, 0)
			k.v("umlal2.4s.lane", y, x, w, 1)
			k.op("FMOVQ.P F%d, 12(R%d)", y, dst)
			k.countDown(count, "pixel")
		})
}

// blendRows writes the loop of simd.BlendRows for batches of 16 bytes, in sums of 64 bits.
func blendRows(f *file) {
	f.function("blendRowsNEON", "func(dst *uint8, near, far *uint32, weights uint32, batches int)", func(k *kernel) {
		dst, near, far, weights, batches := k.load("dst"), k.load("near"), k.load("far"), k.load("weights"),
			k.load("batches")
		w := k.vector()
		k.op("FMOVS R%d, F%d", weights, w)
		k.v("ushll.4s", w, w, 0)
		k.repeat(batches, "batch", func() {
			x, y := k.take(near, 4*lanes), k.take(far, 4*lanes)
			for i := range x {
				k.scope(func() {
					low, high := k.vector(), k.vector()
					k.v("umull.2d.lane", low, x[i], w, 0)
					k.v("umull2.2d.lane", high, x[i], w, 0)
					k.v("umlal.2d.lane", low, y[i], w, 1)
					k.v("umlal2.2d.lane", high, y[i], w, 1)
					k.v("rshrn.2s", x[i], low, 2*shared.TapBits)
					k.v("rshrn2.4s", x[i], high, 2*shared.TapBits)
				})
			}
			k.v("uzp1.8h", x[0], x[0], x[1])
			k.v("uzp1.8h", x[2], x[2], x[3])
			k.v("uzp1.16b", x[0], x[0], x[2])
			k.put(x[:1], dst, lanes)
		})
	})
}
