package jpeg

import "nmn/kernels/simd"

// natural[k+1] is the place within a block, row by row, of coefficient k in zigzag order.
var natural = simd.ZigZag()

// block takes a block of a sequential scan: the difference of its mean from the previous block, and the
// coefficients after it. It writes the coefficients that are not zero. The reader must not be spent.
func (r *bitReader) block(level simd.Level, coefs *[64]int16, dc, ac *huffman) (difference int32, ok bool) {
	r.Fill()
	if difference, ok = r.difference(dc); !ok {
		return 0, false
	}
	for k := 1; ; {
		if k = level.HuffmanRun(&r.Bits, &ac.values, coefs, k); k > 63 {
			return difference, true
		}
		length, advance, value := ac.long(r.Acc)
		if length == 0 {
			return 0, false
		}
		r.Acc, r.N = r.Acc<<length, r.N-uint64(length)
		k += advance
		coefs[natural[uint8(k)]] = value
	}
}

// difference takes the first symbol of a block and the bits after it; it returns false if the symbol is
// invalid.
func (r *bitReader) difference(dc *huffman) (int32, bool) {
	e := entry(dc.values[r.Acc>>(64-lookBits)])
	if length := e.length(); length > 0 {
		r.Acc, r.N = r.Acc<<length, r.N-uint64(length)
		return int32(e.value()), true
	}
	size, ok := r.symbol(dc)
	if !ok || size > 16 {
		return 0, false
	}
	return extend(r.bits(int(size)), int(size)), true
}

// long decodes a coefficient whose code is longer than a look-up. The length is 0 if no code begins like
// this.
func (h *huffman) long(acc uint64) (length, advance int, value int16) {
	symbol, code := h.findLong(uint32(acc >> 48))
	if code > maxCode {
		return 0, 0, 0
	}
	advance, extra := steps(symbol)
	acc <<= code
	return code + extra, advance, int16(extend(uint32(acc>>32>>(32-extra)), extra))
}

// steps returns the meaning of a coefficient's symbol: the distance to the next one, and the number of bits
// of its value. An end of block is a zero so far away that it ends the block.
func steps(symbol uint8) (advance, extra int) {
	advance, extra = int(symbol>>4)+1, int(symbol&15)
	if extra == 0 && advance < 16 {
		advance = endOfBlock
	}
	return advance, extra
}
