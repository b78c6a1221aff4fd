package neon

// copyRows writes the kernel of simd.CopyRows.
func copyRows(f *file) {
	f.function("copyRowsNEON", "func(dst *float32, dstStride int, src *float32, srcStride, rows, width int)",
		func(k *kernel) {
			dst, dstStride, src, srcStride := k.load("dst"), k.loadBytes("dstStride"), k.load("src"), k.loadBytes("srcStride")
			rows, width := k.load("rows"), k.load("width")
			from, to, count := k.register(), k.register(), k.register()
			k.label("row")
			k.move(src, from)
			k.move(dst, to)
			k.move(width, count)
			k.walk("copy", count, func(n int) { k.put(k.take(from, n), to, n) })
			k.add(srcStride, src)
			k.add(dstStride, dst)
			k.countDown(rows, "row")
		})
}

// sumRows writes the kernel of simd.SumRows. It takes four rows at a time, to read and write dst less often.
func sumRows(f *file) {
	f.function("sumRowsNEON", "func(dst *float32, src *float32, stride, rows, width int)", func(k *kernel) {
		dst, src, stride, rows, width := k.load("dst"), k.load("src"), k.loadBytes("stride"), k.load("rows"), k.load("width")
		to, count := k.register(), k.register()
		pointers := []register{k.register(), k.register(), k.register(), k.register()}
		sum := func(name string, n int) {
			for _, p := range pointers[:n] {
				k.move(src, p)
				k.add(stride, src)
			}
			k.move(dst, to)
			k.move(width, count)
			k.walk(name, count, func(width int) { k.accumulate(to, width, pointers[:n]...) })
		}
		k.op("SUBS $4, R%d, R%d", rows, rows)
		k.op("BLT fewer")
		k.label("rows")
		sum("four", 4)
		k.op("SUBS $4, R%d, R%d", rows, rows)
		k.op("BGE rows")
		k.label("fewer")
		k.op("ADDS $4, R%d, R%d", rows, rows)
		k.op("BEQ end")
		k.label("row")
		sum("one", 1)
		k.countDown(rows, "row")
		k.label("end")
	})
}

// accumulate adds n float32 at each pointer to those at to, in their order, and moves all pointers on.
func (k *kernel) accumulate(to register, n int, from ...register) {
	sums := k.peek(to, n)
	for _, p := range from {
		k.scope(func() {
			for i, x := range k.take(p, n) {
				k.v("fadd.4s", sums[i], sums[i], x)
			}
		})
	}
	k.put(sums, to, n)
}

// add writes the kernel of simd.Add.
func add(f *file) {
	f.function("addNEON", "func(dst, src *float32, count int)", func(k *kernel) {
		dst, src, count := k.load("dst"), k.load("src"), k.load("count")
		k.walk("add", count, func(n int) { k.accumulate(dst, n, src) })
	})
}

// scaleRows writes the kernel of simd.ScaleRows.
func scaleRows(f *file) {
	f.function("scaleRowsNEON", "func(dst *float32, stride int, factors *float32, rows, width int)", func(k *kernel) {
		dst, stride, factors, rows, width := k.load("dst"), k.loadBytes("stride"), k.load("factors"), k.load("rows"),
			k.load("width")
		to, by, count := k.register(), k.register(), k.register()
		k.label("row")
		k.move(dst, to)
		k.move(factors, by)
		k.move(width, count)
		k.walk("scale", count, func(n int) {
			x := k.peek(to, n)
			for i, y := range k.take(by, n) {
				k.v("fmul.4s", x[i], x[i], y)
			}
			k.put(x, to, n)
		})
		k.add(stride, dst)
		k.countDown(rows, "row")
	})
}
