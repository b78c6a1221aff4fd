package neon

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

func add(f *file) {
	f.function("addNEON", "func(dst, src *float32, count int)", func(k *kernel) {
		dst, src, count := k.load("dst"), k.load("src"), k.load("count")
		k.walk("add", count, func(n int) { k.accumulate(dst, n, src) })
	})
}

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

func sumRows64(f *file) {
	f.function("sumRows64NEON", "func(dst *float64, src *float32, stride, rows, width int)", func(k *kernel) {
		dst, src, stride, rows, width := k.load("dst"), k.load("src"), k.loadBytes("stride"), k.load("rows"), k.load("width")
		to, from, count := k.register(), k.register(), k.register()
		k.label("row")
		k.move(dst, to)
		k.move(src, from)
		k.move(width, count)
		k.walk("sum", count, func(n int) {
			for _, x := range k.take(from, n) {
				k.addWide(to, x, min(n, lanes))
			}
		})
		k.add(stride, src)
		k.countDown(rows, "row")
	})
}

// addWide adds the first n float32 of a vector to float64 in memory, and moves the pointer on.
func (k *kernel) addWide(to register, x vector, n int) {
	k.scope(func() {
		low, high, sums := k.vector(), k.vector(), k.grid(1, 2)[0]
		k.v("fcvtl.2d", low, x)
		if n == 1 {
			k.op("FMOVD (R%d), F%d", to, sums[0])
			k.v("fadd.2d", sums[0], sums[0], low)
			k.op("FMOVD.P F%d, 8(R%d)", sums[0], to)
			return
		}
		k.v("fcvtl2.2d", high, x)
		k.op("FLDPQ (R%d), (F%d, F%d)", to, sums[0], sums[1])
		k.v("fadd.2d", sums[0], sums[0], low)
		k.v("fadd.2d", sums[1], sums[1], high)
		k.op("FSTPQ.P (F%d, F%d), %d(R%d)", sums[0], sums[1], 2*vectorBytes, to)
	})
}

// transpose writes the transposition of 8 rows, in blocks of 8×8.
func transpose(f *file) {
	f.function("transpose8NEON", "func(dst *float32, dstStride int, src *float32, srcStride, blocks int)",
		func(k *kernel) {
			dst, dstStride, src, srcStride, blocks := k.load("dst"), k.loadBytes("dstStride"), k.load("src"),
				k.loadBytes("srcStride"), k.load("blocks")
			at, rows := k.register(), k.grid(8, 2)
			k.label("block")
			k.move(src, at)
			for _, row := range rows {
				k.fill(row, at, 8)
				k.add(srcStride, at)
			}
			for half := range 2 {
				k.transposeFour(rows[0][half], rows[1][half], rows[2][half], rows[3][half])
				k.transposeFour(rows[4][half], rows[5][half], rows[6][half], rows[7][half])
				for i := range 4 {
					k.spill([]vector{rows[i][half], rows[4+i][half]}, dst, 8)
					k.add(dstStride, dst)
				}
			}
			k.op("ADD $32, R%d, R%d", src, src)
			k.countDown(blocks, "block")
		})
}

// transposeFour transposes four vectors in place: pairs of lanes, then halves change places.
func (k *kernel) transposeFour(a, b, c, d vector) {
	k.scope(func() {
		ab, cd := k.grid(1, 2)[0], k.grid(1, 2)[0]
		for i, op := range []string{"trn1.4s", "trn2.4s"} {
			k.v(op, ab[i], a, b)
			k.v(op, cd[i], c, d)
		}
		k.v("zip1.2d", a, ab[0], cd[0])
		k.v("zip1.2d", b, ab[1], cd[1])
		k.v("zip2.2d", c, ab[0], cd[0])
		k.v("zip2.2d", d, ab[1], cd[1])
	})
}
