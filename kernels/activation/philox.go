package activation

// maskWords are the words of two neighbouring counters of Philox4x32-10.
type maskWords [8]uint32

// fill computes rng.Block for counters (counter, row, 0, 0) and (counter+1, row, 0, 0). A round
// waits for its multiplications; the second counter's fill that time.
func (w *maskWords) fill(counter, row uint32, key [2]uint32) {
	const multiplier0, multiplier1 = 0xD2511F53, 0xCD9E8D57
	const weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85
	a0, a1, a2, a3 := counter, row, uint32(0), uint32(0)
	b0, b1, b2, b3 := counter+1, row, uint32(0), uint32(0)
	k0, k1 := key[0], key[1]
	for range 10 {
		p, q := uint64(multiplier0)*uint64(a0), uint64(multiplier1)*uint64(a2)
		a0, a1, a2, a3 = uint32(q>>32)^a1^k0, uint32(q), uint32(p>>32)^a3^k1, uint32(p)
		p, q = uint64(multiplier0)*uint64(b0), uint64(multiplier1)*uint64(b2)
		b0, b1, b2, b3 = uint32(q>>32)^b1^k0, uint32(q), uint32(p>>32)^b3^k1, uint32(p)
		k0, k1 = k0+weyl0, k1+weyl1
	}
	*w = maskWords{a0, a1, a2, a3, b0, b1, b2, b3}
}
