//go:build !noasm

package simd

import "unsafe"

func (l Level) huffmanRun(b *Bits, table *HuffmanTable, coefs *[64]int16, k int) int {
	if l == Generic {
		return huffmanRunGeneric(b, table, coefs, k)
	}
	b.Next, b.Acc, b.N, k = huffmanRunBMI2(unsafe.SliceData(b.From), b.Next, b.Acc, b.N, &table[0], &coefs[0], &zigZag[0], k)
	return k
}
