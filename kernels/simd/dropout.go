package simd

// Dropout is a run of a mask. Word i mod 4 of Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011) with counter
// (Counter + i/4, Row, 0, 0) and key Seed decides whether element i is kept.
type Dropout struct {
	Counter, Row uint32
	Seed         [2]uint32
	Threshold    uint32  // words from this one on keep their element
	Scale        float32 // factor on kept elements
}

// Drop computes dst[i] = src[i]·Scale if the mask keeps element i, else 0, over the length of dst. dst may be
// src, but must not overlap it otherwise. Results are equal in every bit at all levels.
func (l Level) Drop(dst, src []float32, p Dropout) {
	atLeast("dropout", len(dst), src)
	k, done := &table[l], 0
	if k.dropout != nil && len(dst) >= k.dropBatch {
		batches := len(dst) / k.dropBatch
		k.dropout(at(dst), at(src), p.roundKeys(), p.Counter, p.Row, p.Threshold, p.Scale, batches)
		done = batches * k.dropBatch
	}
	p.Counter += uint32(done / 4)
	dropGeneric(dst[done:], src[done:len(dst)], &p)
}

// roundKeys are the two words of the key of each round.
func (p *Dropout) roundKeys() (keys [2 * rounds]uint32) {
	key := p.Seed
	for i := 0; i < len(keys); i += 2 {
		keys[i], keys[i+1] = key[0], key[1]
		key[0], key[1] = key[0]+weyl0, key[1]+weyl1
	}
	return keys
}

func dropGeneric(dst, src []float32, p *Dropout) {
	src = src[:len(dst)]
	counter := p.Counter
	var words maskWords
	for ; len(dst) >= len(words); dst, src = dst[len(words):], src[len(words):] {
		words.fill(counter, p.Row, p.Seed)
		counter += 2
		d, s := dst[:len(words)], src[:len(words)]
		for i, word := range words {
			d[i] = keepBits(s[i], word >= p.Threshold) * p.Scale
		}
	}
	if len(dst) == 0 {
		return
	}
	words.fill(counter, p.Row, p.Seed)
	for i, v := range src {
		dst[i] = keepBits(v, words[i] >= p.Threshold) * p.Scale
	}
}

// Philox4x32-10.
const (
	multiplier0, multiplier1 = 0xD2511F53, 0xCD9E8D57
	weyl0, weyl1             = 0x9E3779B9, 0xBB67AE85
	rounds                   = 10
)

// maskWords are the words of two neighbouring counters.
type maskWords [8]uint32

// fill computes the words of counters (counter, row, 0, 0) and (counter+1, row, 0, 0). While a round waits
// for one counter's multiplications, it starts the second counter's.
func (w *maskWords) fill(counter, row uint32, key [2]uint32) {
	a0, a1, a2, a3 := counter, row, uint32(0), uint32(0)
	b0, b1, b2, b3 := counter+1, row, uint32(0), uint32(0)
	k0, k1 := key[0], key[1]
	for range rounds {
		p, q := uint64(multiplier0)*uint64(a0), uint64(multiplier1)*uint64(a2)
		a0, a1, a2, a3 = uint32(q>>32)^a1^k0, uint32(q), uint32(p>>32)^a3^k1, uint32(p)
		p, q = uint64(multiplier0)*uint64(b0), uint64(multiplier1)*uint64(b2)
		b0, b1, b2, b3 = uint32(q>>32)^b1^k0, uint32(q), uint32(p>>32)^b3^k1, uint32(p)
		k0, k1 = k0+weyl0, k1+weyl1
	}
	*w = maskWords{a0, a1, a2, a3, b0, b1, b2, b3}
}
