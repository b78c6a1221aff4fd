//go:build !noasm

package simd

const assembly = "arm64"

// extensionsMissing returns nothing: Go itself needs the vector instructions of arm64.
func extensionsMissing(Level) []string { return nil }

func assemble(t *[AVX512 + 1]kernels) {
	k := t[Generic]
	k.copyRows, k.sumRows = copyRowsNEON, sumRowsNEON
	k.add, k.scaleRows = addNEON, scaleRowsNEON
	t[NEON] = k
}
