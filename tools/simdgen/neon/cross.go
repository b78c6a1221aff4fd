package neon

import "fmt"

// cross writes the kernel of simd.Cross: bands of rows, each summed in registers over all of depth.
func cross(f *file, rows, columns int) {
	f.function(fmt.Sprintf("cross%dx%dNEON", rows, columns), "func(a *float32, aStride int, b *float32, bStride, "+
		"depth int, dst *float32, dstStride, bands, flags int, ahead *float32, aheadStride int)", func(k *kernel) {
		nextA, nextAhead, dst, bands := k.load("a"), k.load("ahead"), k.load("dst"), k.load("bands")
		aStride, bStride, dstStride, aheadStride := k.loadBytes("aStride"), k.loadBytes("bStride"), k.loadBytes("dstStride"),
			k.loadBytes("aheadStride")
		flags := k.load("flags")
		acc := k.grid(rows, columns/lanes)
		k.label("band")
		k.clear(acc)
		a, ahead := k.register(), k.register()
		k.move(nextA, a)
		k.move(nextAhead, ahead)
		b, depth := k.load("b"), k.load("depth")
		k.label("step")
		k.op("PRFM (R%d), PLDL2KEEP", ahead)
		k.scope(func() {
			// One load of four vectors is decoded faster than two of pairs.
			x, row := k.grid(1, 1)[0], k.grid(1, columns/lanes)[0]
			k.op("VLD1 (R%d), [V%d.S4]", a, x[0])
			k.op("VLD1 (R%d), [V%d.S4, V%d.S4, V%d.S4, V%d.S4]", b, row[0], row[1], row[2], row[3])
			k.products(acc, x, row)
		})
		k.add(aStride, a)
		k.add(bStride, b)
		k.add(aheadStride, ahead)
		k.countDown(depth, "step")
		k.op("TBZ $%d, R%d, added", flagLoad, flags)
		at := a // free by now
		k.move(dst, at)
		for i := range acc {
			k.scope(func() {
				for j, x := range k.peek(at, columns) {
					k.v("fadd.4s", acc[i][j], acc[i][j], x)
				}
			})
			k.add(dstStride, at)
		}
		k.label("added")
		for i := range acc {
			k.spill(acc[i], dst, columns)
			k.add(dstStride, dst)
		}
		k.op("ADD $%d, R%d, R%d", 4*rows, nextA, nextA)
		k.op("ADD $%d, R%d, R%d", cacheLine, nextAhead, nextAhead)
		k.countDown(bands, "band")
	})
}
