package jpeg

import (
	"fmt"

	"nmn/kernels/simd"
)

const (
	lookBits  = simd.LookBits
	shortBits = 9  // bits of a look-up of symbols alone
	maxCode   = 16 // bits of the longest code
)

// huffman is a table of codes (T.81, annex C).
type huffman struct {
	defined  bool
	combined bool // values is filled
	symbols  [256]uint8
	// limit[n] is the first 16-bit number, codes left-aligned, after the codes of n bits; base[n] turns a
	// code of n bits into an index of symbols.
	limit [maxCode + 2]uint32
	base  [maxCode + 1]int32
	// short finds a symbol by the next bits: symbol<<8 | length of the code, 0 if the code is longer.
	short [1 << shortBits]uint16
	// values finds code and value together: see entry.
	values simd.HuffmanTable
}

// entry is an entry of a simd.HuffmanTable.
type entry uint32

const endOfBlock = 128 // advance

func coefficient(length, advance int, value int16) entry {
	return entry(length | advance<<8 | int(uint16(value))<<16)
}

func longValue(code, advance, extra int) entry { return entry(advance<<8 | code<<16 | extra<<24) }

func (e entry) length() uint { return uint(e & 63) }
func (e entry) value() int16 { return int16(e >> 16) }

// define reads the table of a DHT segment: 16 counts, then the symbols. It returns the bytes it took.
func (h *huffman) define(data []byte) (int, error) {
	if len(data) < maxCode {
		return 0, fmt.Errorf("a Huffman table of %d bytes", len(data))
	}
	total := 0
	for _, n := range data[:maxCode] {
		total += int(n)
	}
	if total == 0 || total > len(h.symbols) || total > len(data)-maxCode {
		return 0, fmt.Errorf("a Huffman table of %d codes with %d bytes of symbols", total, len(data)-maxCode)
	}
	h.defined, h.combined = false, false
	copy(h.symbols[:], data[maxCode:maxCode+total])
	clear(h.short[:])
	code, index := uint32(0), int32(0)
	for n := 1; n <= maxCode; n++ {
		count := uint32(data[n-1])
		if code+count > 1<<n {
			return 0, fmt.Errorf("a Huffman table with too many codes of %d bits", n)
		}
		h.base[n] = index - int32(code)
		if n <= shortBits {
			for i := range count {
				decoded := uint16(h.symbols[index+int32(i)])<<8 | uint16(n)
				from, each := (code+i)<<(shortBits-n), uint32(1)<<(shortBits-n)
				for j := range each {
					h.short[from+j] = decoded
				}
			}
		}
		code, index = code+count, index+int32(count)
		h.limit[n] = code << (maxCode - n)
		code <<= 1
	}
	h.limit[maxCode+1] = 1 << maxCode // ends every search
	h.defined = true
	return maxCode + total, nil
}

// find returns symbol and length of the code at the front of 16 bits; length 17 if there is none.
func (h *huffman) find(front uint32) (symbol uint8, length int) {
	if s := h.short[front>>(maxCode-shortBits)]; s != 0 {
		return uint8(s >> 8), int(s & 255)
	}
	return h.findLong(front)
}

// findLong is find for codes longer than shortBits.
func (h *huffman) findLong(front uint32) (symbol uint8, length int) {
	length = shortBits + 1
	for front >= h.limit[length] {
		length++
	}
	if length > maxCode {
		return 0, length
	}
	return h.symbols[uint8(h.base[length]+int32(front>>(maxCode-length)))], length
}

// combine fills values, for the symbols of AC coefficients or of DC differences.
func (h *huffman) combine(ac bool) {
	if h.combined {
		return
	}
	h.combined = true
	for bits := range uint32(len(h.values)) {
		symbol, length := h.find(bits << (maxCode - lookBits))
		h.values[bits] = uint32(entryOf(bits, symbol, length, ac))
	}
}

// entryOf is the entry of a look-up that begins with the code of a symbol.
func entryOf(bits uint32, symbol uint8, length int, ac bool) entry {
	advance, extra := 1, int(symbol)
	if ac {
		advance, extra = steps(symbol)
	}
	switch {
	case length > lookBits:
		return 0
	case length+extra > lookBits:
		return longValue(length, advance, extra)
	}
	value := bits >> (lookBits - length - extra) & (1<<extra - 1)
	return coefficient(length+extra, advance, int16(extend(value, extra)))
}

// extend turns the bits after a symbol into the value that they stand for (T.81, F.2.2.1).
func extend(bits uint32, size int) int32 {
	if bits < 1<<size>>1 {
		return int32(bits) - 1<<size + 1
	}
	return int32(bits)
}
