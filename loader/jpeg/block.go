package jpeg

import "encoding/binary"

// natural is the place within a block, row by row, of the coefficient before the index in zigzag order:
// natural[k+1] is that of number k. Indices of what is behind a block give its last place.
var natural = func() (order [256]uint8) {
	for i := range order {
		order[i] = 63
	}
	x, y, dx := 0, 0, 1 // along the diagonals
	for k := range 64 {
		order[k+1] = uint8(8*y + x)
		switch nx, ny := x+dx, y-dx; {
		case nx > 7:
			y, dx = y+1, -dx
		case ny > 7:
			x, dx = x+1, -dx
		case ny < 0:
			x, dx = nx, -dx
		case nx < 0:
			y, dx = ny, -dx
		default:
			x, y = nx, ny
		}
	}
	return order
}()

// block takes a block of a sequential scan: the difference of its mean from that of the block before, and
// the coefficients behind it, which it writes where they are not zero. The reader must not be
// spent.
func (r *bitReader) block(coefs *[64]int16, dc, ac *huffman) (difference int32, ok bool) {
	from, next, acc, n := r.from, r.next, r.acc, r.n
	acc |= binary.BigEndian.Uint64(from[next:]) >> n
	next += int(63-n) >> 3
	n |= 56

	e := dc.values[acc>>(64-lookBits)]
	if length := e.length(); length > 0 {
		acc, n = acc<<length, n-length
		difference = int32(e.value())
	} else {
		length, extra := e.code(), e.extra()
		if length == 0 {
			symbol, long := dc.findLong(uint32(acc >> 48))
			length, extra = uint(long), uint(symbol)
		}
		if length > maxCode || extra > 16 {
			return 0, false
		}
		acc <<= length
		difference = extend(uint32(acc>>32>>(32-extra)), int(extra))
		acc, n = acc<<extra, n-length-extra
	}
	for k := 1; k < 64; {
		if n < 32 {
			acc |= binary.BigEndian.Uint64(from[next:]) >> n
			next += int(63-n) >> 3
			n |= 56
		}
		e := ac.values[acc>>(64-lookBits)]
		length, value := e.length(), e.value()
		if length == 0 {
			var advance int
			if length, advance, value = ac.long(e, acc); length == 0 {
				return 0, false
			}
			e = entry(advance << 8)
		}
		acc, n = acc<<(length&63), n-length
		k += e.advance()
		coefs[natural[uint8(k)]] = value
	}
	r.next, r.acc, r.n = next, acc, n
	return difference, true
}

// long decodes what a look-up has not: a coefficient with a longer value or a longer code. The length is 0
// where no code begins like this.
func (h *huffman) long(e entry, acc uint64) (length uint, advance int, value int16) {
	code, extra := int(e.code()), int(e.extra())
	advance = e.advance()
	if code == 0 {
		symbol, length := h.findLong(uint32(acc >> 48))
		if length > maxCode {
			return 0, 0, 0
		}
		code, advance, extra = length, int(symbol>>4)+1, int(symbol&15)
		if extra == 0 && advance < 16 {
			advance = endOfBlock
		}
	}
	acc <<= code
	return uint(code + extra), advance, int16(extend(uint32(acc>>32>>(32-extra)), extra))
}
