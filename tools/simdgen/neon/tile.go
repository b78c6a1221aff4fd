package neon

import "fmt"

// Flags of a tile: the bits of package simd's.
const (
	flagLoad = 0
	flagReLU = 1
)

// AVX2 has tiles of the same shapes. 6×16 outputs are 24 vectors, which leaves eight for the operands. Columns
// are a multiple of 8.
const (
	mostRows    = 6 // of a tile
	fewestRows  = 3
	wideColumns = 16
)

// tile writes the kernel of simd.Tile. Each step of the reduction multiplies one input of each row with a row
// of the panel. The row pointers stay in registers for a whole tap and share one index, which counts up to 0.
//
// The multiplication takes a lane of the inputs for all columns. Loads that fill all lanes with one value would
// take the vector units of many processors, which the multiplications need.
func tile(f *file, rows, columns int) {
	f.function(fmt.Sprintf("tile%dx%dNEON", rows, columns), "func(a *float32, offsets *int, panel *float32, "+
		"taps, depth, tapStride, panelSkip int, dst *float32, dstStride, rows int, bias, mask *float32, flags int, "+
		"from *float32, next int, ahead *float32)", func(k *kernel) {
		acc := k.grid(rows, columns/lanes)
		k.clear(acc)
		k.loadRows(acc, "from")
		k.scope(func() { k.tileTaps(acc) })
		k.label("finish")
		k.addBias(acc)
		k.clamp(acc)
		k.maskRows(acc)
		k.storeRows(acc)
	})
}

// tileTaps writes the loop over the taps.
func (k *kernel) tileTaps(acc [][]vector) {
	taps, depth := k.load("taps"), k.load("depth")
	k.op("CMP $0, R%d", taps)
	k.op("BLE finish")
	k.op("CMP $0, R%d", depth)
	k.op("BLE finish")
	asked := k.beginAsking()
	k.comment("row pointers: a + 4*(offset + depth)")
	base, offsets := k.load("a"), k.load("offsets")
	k.op("ADD R%d<<2, R%d, R%d", depth, base, base)
	pointers := make([]register, len(acc))
	for i := range pointers {
		pointers[i] = k.register()
		k.op("MOVD %d(R%d), R%d", word*i, offsets, pointers[i])
		k.op("ADD R%d<<2, R%d, R%d", pointers[i], base, pointers[i])
	}
	panel, ahead := k.load("panel"), k.load("ahead")
	tapStride, panelSkip := k.loadBytes("tapStride"), k.loadBytes("panelSkip")
	k.label("tap")
	asked.rows(k, 2, len(acc[0]))
	k.tileLoop("step", acc, pointers, depth, panel, ahead)
	for _, p := range pointers {
		k.add(tapStride, p)
	}
	k.add(panelSkip, panel)
	k.countDown(taps, "tap")
}

// tileLoop adds the products of a row of depth values at each pointer, which is the end of the row, with the
// rows of the panel. It prefetches as much as it reads at the pointers.
//
// It takes four values of each row at a time, and single ones at the end. Loads of single values alone would
// take a fifth of the instructions, which narrow processors cannot decode fast enough.
func (k *kernel) tileLoop(name string, acc [][]vector, pointers []register, depth, panel, ahead register) {
	index, rowBytes := k.register(), len(acc[0])*vectorBytes
	k.op("NEG R%d<<2, R%d", depth, index)
	k.op("CMN $%d, R%d", vectorBytes, index)
	k.op("BGT %s_rest", name)
	k.label(name + "_four")
	k.prefetch(ahead, vectorBytes*len(acc))
	k.scope(func() {
		inputs := k.grid(1, len(acc))[0]
		for i, p := range pointers {
			k.v("ldr.q", inputs[i], p, index)
		}
		for step := range lanes {
			k.tileStep(acc, inputs, step, panel, step*rowBytes)
		}
	})
	k.op("ADD $%d, R%d, R%d", lanes*rowBytes, panel, panel)
	k.op("ADD $%d, R%d, R%d", vectorBytes, index, index)
	k.op("CMN $%d, R%d", vectorBytes, index)
	k.op("BLE %s_four", name)
	k.label(name + "_rest")
	k.op("CBZ R%d, %s_end", index, name)
	k.label(name + "_one")
	k.prefetch(ahead, 4*len(acc))
	k.scope(func() {
		inputs := k.grid(1, len(acc))[0]
		for i, p := range pointers {
			k.op("FMOVS (R%d)(R%d), F%d", p, index, inputs[i])
		}
		k.tileStep(acc, inputs, 0, panel, 0)
	})
	k.op("ADD $%d, R%d, R%d", rowBytes, panel, panel)
	k.op("ADDS $4, R%d, R%d", index, index)
	k.op("BNE %s_one", name)
	k.label(name + "_end")
}

// tileStep multiplies a lane of each input with a row of the panel, some bytes after its start. Two vectors of
// the row are in registers at a time, because there are no more.
func (k *kernel) tileStep(acc [][]vector, inputs []vector, lane int, panel register, offset int) {
	for j := 0; j < len(acc[0]); j += 2 {
		k.scope(func() {
			b := k.grid(1, 2)[0]
			k.op("FLDPQ %d(R%d), (F%d, F%d)", offset+j*vectorBytes, panel, b[0], b[1])
			for i, x := range inputs {
				k.v("fmla.4s.lane", acc[i][j], b[0], x, lane)
				k.v("fmla.4s.lane", acc[i][j+1], b[1], x, lane)
			}
		})
	}
}

// prefetch asks for a number of bytes and moves the pointer on.
func (k *kernel) prefetch(at register, bytes int) {
	for line := 0; line < bytes; line += cacheLine {
		k.op("PRFM %d(R%d), PLDL1KEEP", line, at)
	}
	k.op("ADD $%d, R%d, R%d", bytes, at, at)
}

// asking is the start of the next rows to prefetch in dst, from and mask, each 0 if there are none, and the
// bytes between rows.
type asking struct {
	dst, from, mask, stride register
}

// beginAsking computes where the next tile's sums, start values and masks begin. The parameter next is their
// distance from this tile's.
func (k *kernel) beginAsking() asking {
	k.comment("lines of the next tile")
	a := asking{k.register(), k.register(), k.register(), k.loadBytes("dstStride")}
	for _, r := range []register{a.dst, a.from, a.mask} {
		k.op("MOVD ZR, R%d", r)
	}
	k.scope(func() {
		next, dst, mask, from, flags := k.loadBytes("next"), k.load("dst"), k.load("mask"), k.load("from"), k.load("flags")
		k.op("CBZ R%d, asked", next)
		k.op("ADD R%d, R%d, R%d", next, dst, a.dst)
		k.op("CBZ R%d, begins", mask)
		k.op("ADD R%d, R%d, R%d", next, mask, a.mask)
		k.label("begins")
		k.op("CMP R%d, R%d", from, dst) // the same lines
		k.op("BEQ asked")
		k.op("TBZ $%d, R%d, asked", flagLoad, flags)
		k.op("ADD R%d, R%d, R%d", next, from, a.from)
		k.label("asked")
	})
	return a
}

// rows prefetches the next rows. They are few, so that the tile's own reads need not wait for them.
func (a asking) rows(k *kernel, rows, vectors int) {
	for i, at := range []register{a.dst, a.from, a.mask} {
		k.op("CBZ R%d, asked%d", at, i)
		for range rows {
			for line := 0; line < vectors*vectorBytes; line += cacheLine {
				k.op("PRFM %d(R%d), PLDL1KEEP", line, at)
			}
			k.add(a.stride, at)
		}
		k.label(fmt.Sprintf("asked%d", i))
	}
}

// loadRows begins the sums with rows of a parameter, dstStride apart, if the flag says so.
func (k *kernel) loadRows(acc [][]vector, name string) {
	k.scope(func() {
		at := k.load(name)
		k.op("TBZ $%d, R%d, begun", flagLoad, k.load("flags"))
		k.rows(len(acc), at, "begun", func(i int) { k.fill(acc[i], at, lanes*len(acc[i])) })
	})
}

func (k *kernel) storeRows(acc [][]vector) {
	k.scope(func() {
		at := k.load("dst")
		k.rows(len(acc), at, "stored", func(i int) { k.spill(acc[i], at, lanes*len(acc[i])) })
	})
}

// rows writes body for rows 0 to n, with a pointer that moves by dstStride between rows. It leaves at the number
// of rows in the parameter rows, which is at least 1.
func (k *kernel) rows(n int, at register, end string, body func(i int)) {
	stride, count := k.loadBytes("dstStride"), k.load("rows")
	for i := range n {
		body(i)
		if i+1 < n {
			k.op("CMP $%d, R%d", i+1, count)
			k.op("BEQ %s", end)
			k.add(stride, at)
		}
	}
	k.label(end)
}

func (k *kernel) addBias(acc [][]vector) {
	k.scope(func() {
		bias := k.load("bias")
		k.op("CBZ R%d, biased", bias)
		for j, b := range k.peek(bias, lanes*len(acc[0])) {
			for i := range acc {
				k.v("fadd.4s", acc[i][j], acc[i][j], b)
			}
		}
		k.label("biased")
	})
}

// clamp replaces negative sums by 0. It keeps NaN and -0.
func (k *kernel) clamp(acc [][]vector) {
	k.scope(func() {
		negative := k.vector()
		k.op("TBZ $%d, R%d, clamped", flagReLU, k.load("flags"))
		for i := range acc {
			for _, x := range acc[i] {
				k.v("fcmlt.4s", negative, x)
				k.v("bic.16b", x, x, negative)
			}
		}
		k.label("clamped")
	})
}

// maskRows replaces sums by 0 if the mask is 0 or less. NaN in the mask keeps the sum.
func (k *kernel) maskRows(acc [][]vector) {
	k.scope(func() {
		mask := k.load("mask")
		k.op("CBZ R%d, masked", mask)
		k.rows(len(acc), mask, "masked", func(i int) {
			k.scope(func() {
				for j, m := range k.peek(mask, lanes*len(acc[i])) {
					k.v("fcmle.4s", m, m)
					k.v("bic.16b", acc[i][j], acc[i][j], m)
				}
			})
		})
	})
}

// outer writes the kernel of simd.Sum: each step multiplies rows neighbouring values of a with a row of the
// panel.
func outer(f *file, rows, columns int) {
	f.function(fmt.Sprintf("outer%dx%dNEON", rows, columns), "func(a *float32, aStride int, panel *float32, depth int, "+
		"dst *float32, dstStride, rows, flags int)", func(k *kernel) {
		acc := k.grid(rows, columns/lanes)
		k.clear(acc)
		k.loadRows(acc, "dst")
		k.scope(func() {
			a, stride, panel, depth := k.load("a"), k.loadBytes("aStride"), k.load("panel"), k.load("depth")
			k.op("CMP $0, R%d", depth)
			k.op("BLE finish")
			k.label("step")
			k.scope(func() { k.products(acc, k.peek(a, rows), k.take(panel, columns)) })
			k.add(stride, a)
			k.countDown(depth, "step")
		})
		k.label("finish")
		k.storeRows(acc)
	})
}

// products adds the outer product of neighbouring values, four in a vector, and a row of the panel.
func (k *kernel) products(acc [][]vector, a, b []vector) {
	for i := range acc {
		for j := range b {
			k.v("fmla.4s.lane", acc[i][j], b[j], a[i/lanes], i%lanes)
		}
	}
}
