package neon

// huffmanRun writes the loop of simd.HuffmanRun. Each coefficient waits for the one before: a shift of the bits, the
// look-up, and the shift by the entry's length. That shift takes the lower six bits of the entry. Longer values are
// taken aside.
func huffmanRun(f *file) {
	const lookBits = 11
	f.function("huffmanRunNEON", "func(from *byte, next int, acc, n uint64, table *uint32, coefs *int16, order *uint8, "+
		"k int) (int, uint64, uint64, int)", func(k *kernel) {
		from, next, acc, n, table := k.load("from"), k.load("next"), k.load("acc"), k.load("n"), k.load("table")
		coefs, order, number := k.load("coefs"), k.load("order"), k.load("k")
		entry, length, x, y := k.register(), k.register(), k.register(), k.register()
		k.label("coefficient")
		k.op("TBZ $5, R%d, fill", n)
		k.label("ready")
		k.op("LSR $%d, R%d, R%d", 64-lookBits, acc, x)
		k.op("MOVWU (R%d)(R%d<<2), R%d", table, x, entry)
		k.op("ANDS $63, R%d, R%d", entry, length)
		k.op("BEQ long")
		k.op("LSL R%d, R%d, R%d", entry, acc, acc)
		k.op("SUB R%d, R%d, R%d", length, n, n)
		k.op("UBFX $8, R%d, $8, R%d", entry, length)
		k.op("LSR $16, R%d, R%d", entry, entry)
		k.label("write") // the value in entry, what to advance by in length
		k.add(length, number)
		k.op("AND $255, R%d, R%d", number, x)
		k.op("MOVBU (R%d)(R%d), R%d", order, x, x)
		k.op("MOVH R%d, (R%d)(R%d<<1)", entry, coefs, x)
		k.op("CMP $64, R%d", number)
		k.op("BLT coefficient")
		k.op("B end")

		k.label("fill") // 56 bits or more
		k.op("MOVD (R%d)(R%d), R%d", from, next, x)
		k.op("REV R%d, R%d", x, x)
		k.op("LSR R%d, R%d, R%d", n, x, x)
		k.op("ORR R%d, R%d, R%d", x, acc, acc)
		k.op("MOVD $63, R%d", x)
		k.op("SUB R%d, R%d, R%d", n, x, x)
		k.op("ADD R%d>>3, R%d, R%d", x, next, next)
		k.op("ORR $56, R%d, R%d", n, n)
		k.op("B ready")

		k.label("long")
		k.op("UBFX $16, R%d, $8, R%d", entry, x) // length of the code
		k.op("CBZ R%d, end", x)
		k.op("LSR $24, R%d, R%d", entry, length) // of the value
		k.op("LSL R%d, R%d, R%d", x, acc, acc)
		k.op("SUB R%d, R%d, R%d", x, n, n)
		k.op("SUB R%d, R%d, R%d", length, n, n)
		k.comment("A value that begins with 0 is negative: 1 - 2^length is added.")
		k.op("MOVD $-1, R%d", x)
		k.op("LSL R%d, R%d, R%d", length, x, x)
		k.op("MVN R%d, R%d", x, x)
		k.op("BIC R%d->63, R%d, R%d", acc, x, x)
		k.op("NEG R%d, R%d", length, y)
		k.op("LSR R%d, R%d, R%d", y, acc, y)
		k.op("LSL R%d, R%d, R%d", length, acc, acc)
		k.op("SUB R%d, R%d, R%d", x, y, y)
		k.op("UBFX $8, R%d, $8, R%d", entry, length)
		k.move(y, entry)
		k.op("B write")
		k.label("end")
		for i, r := range []register{next, acc, n, number} {
			k.op("MOVD R%d, %s", r, k.memory([]string{"ret", "ret1", "ret2", "ret3"}[i]))
		}
	})
}
