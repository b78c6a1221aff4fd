//go:build !noasm

package simd

// dropBatches handles as many elements as fill whole batches of the assembly, and returns their number.
func (l Level) dropBatches(dst, src []float32, p *Dropout) int {
	batch := 0
	switch l {
	case AVX512:
		batch = 64
	case AVX2:
		batch = 32
	default:
		return 0
	}
	batches := len(dst) / batch
	if batches == 0 {
		return 0
	}
	keys := roundKeys(p.Seed)
	if l == AVX512 {
		dropoutAVX512(at(dst), at(src), &keys[0], p.Counter, p.Row, p.Threshold, p.Scale, batches)
	} else {
		dropoutAVX2(at(dst), at(src), &keys[0], p.Counter, p.Row, p.Threshold, p.Scale, batches)
	}
	return batches * batch
}

// roundKeys are the two words of the key in each round.
func roundKeys(key [2]uint32) (keys [2 * rounds]uint32) {
	for i := 0; i < len(keys); i += 2 {
		keys[i], keys[i+1] = key[0], key[1]
		key[0], key[1] = key[0]+weyl0, key[1]+weyl1
	}
	return keys
}
