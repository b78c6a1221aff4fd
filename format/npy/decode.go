package npy

import (
	"encoding/binary"
	"math"

	"nmn/internal/half"
)

// Float64 widens one element to float64.
func (h *Header) Float64(b []byte) float64 {
	var bits uint64
	switch h.Width {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(h.order.Uint16(b))
	case 4:
		bits = uint64(h.order.Uint32(b))
	default:
		bits = h.order.Uint64(b)
	}
	switch {
	case h.kind == 'f' && h.Width == 8:
		return math.Float64frombits(bits)
	case h.kind == 'f' && h.Width == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case h.kind == 'f':
		return float64(half.Float32(uint16(bits)))
	case h.kind == 'i':
		unused := 64 - 8*h.Width
		return float64(int64(bits<<unused) >> unused) // sign extension
	}
	return float64(bits)
}

// Float32s decodes len(dst) elements, rounded to float32. src has Width bytes for each of them.
func (h *Header) Float32s(dst []float32, src []byte) {
	if h.Descr == "<f4" { // what nearly all files hold
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
		return
	}
	for i := range dst {
		dst[i] = float32(h.Float64(src[i*h.Width : (i+1)*h.Width]))
	}
}

func byteOrder(mark byte) binary.ByteOrder {
	if mark == '>' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
