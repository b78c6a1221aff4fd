package simd

import "unsafe"

// Multiply computes a tile whose width is one of TileShape's.
func (l Level) Multiply(t *Tile, width int) {
	rows, _, _ := l.TileShape()
	t.check(rows, width)
	l.multiply(t, width)
}

// narrowOutput is the number of output channels up to which the tiles of AVX2 are faster than those of
// AVX-512: they have no columns that are computed aside and thrown away.
const narrowOutput = 8

// TileLevel returns the level, l or a lower one that can run wherever l can, whose tiles are the fastest
// for a correlation of width output channels. It changes no bit of the result: the tiles of AVX2 and
// AVX-512 take the same sums in the same order.
func (l Level) TileLevel(width int) Level {
	if l == AVX512 && width <= narrowOutput {
		return AVX2
	}
	return l
}

// Outer computes an outer sum.
func (l Level) Outer(s *Sum) {
	s.check(l.OuterShape())
	l.outer(s)
}

// CopyRows copies rows of width elements between arrays whose rows begin a stride apart. They must
// not overlap.
func (l Level) CopyRows(dst []float32, dstStride int, src []float32, srcStride, rows, width int) {
	checkRows("copy to", len(dst), dstStride, rows, width)
	checkRows("copy from", len(src), srcStride, rows, width)
	if rows > 0 && width > 0 {
		l.copyRows(dst, dstStride, src, srcStride, rows, width)
	}
}

// Transpose copies src, rows × cols, to dst, cols × rows; their rows begin a stride apart. They must
// not overlap.
func (l Level) Transpose(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	checkRows("transpose to", len(dst), dstStride, cols, rows)
	checkRows("transpose from", len(src), srcStride, rows, cols)
	if rows > 0 && cols > 0 {
		l.transpose(dst, dstStride, src, srcStride, rows, cols)
	}
}

// SumRows adds rows of len(dst) elements of src, which begin stride apart, to dst, in their order.
func (l Level) SumRows(dst, src []float32, stride, rows int) {
	checkRows("sum of rows", len(src), stride, rows, len(dst))
	if rows > 0 && len(dst) > 0 {
		l.sumRows(dst, src, stride, rows)
	}
}

// Add adds src to dst, of equal length.
func (l Level) Add(dst, src []float32) {
	checkRows("add", len(src), 0, 1, len(dst))
	if len(dst) > 0 {
		l.add(dst, src)
	}
}

// at is the address of the first element; it may be taken of an empty slice.
func at(s []float32) *float32 { return unsafe.SliceData(s) }
