//go:build !amd64 || noasm

package simd

func (l Level) huffmanRun(b *Bits, table *HuffmanTable, coefs *[64]int16, k int) int {
	return huffmanRunGeneric(b, table, coefs, k)
}
