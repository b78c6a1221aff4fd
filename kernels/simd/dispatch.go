package simd

import "unsafe"

// TileShape returns the rows and the widths of the tiles that Multiply computes.
func (l Level) TileShape() (rows, wide, narrow int) {
	s := &table[l].tileShape
	return s[0], s[1], s[2]
}

// OuterShape returns the rows and the width of the sums that Outer computes.
func (l Level) OuterShape() (rows, width int) { return table[l].outerShape[0], table[l].outerShape[1] }

// Multiply computes a tile whose width is one of TileShape's.
func (l Level) Multiply(t *Tile, width int) {
	rows, _, narrow := l.TileShape()
	t.check(rows, width)
	k := table[l].wide[t.Rows]
	if width == narrow {
		k = table[l].narrow[t.Rows]
	}
	if k == nil {
		tileGeneric(t)
		return
	}
	k(at(t.A), at(t.Offsets), at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows,
		at(t.Bias), at(t.Mask), flagLoad*bit(t.Load)|flagReLU*bit(t.ReLU), at(t.begin()), t.Next, at(t.ahead()))
}

// narrowOutput is the number of output channels up to which the tiles of AVX2 are faster than AVX-512's,
// because they compute no extra columns that are thrown away.
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
	if k := table[l].outer; k != nil {
		k(at(s.A), s.AStride, at(s.Panel), s.Depth, at(s.Dst), s.DstStride, s.Rows, flagLoad*bit(s.Load))
	} else {
		outerGeneric(s)
	}
}

// CopyRows copies rows of width elements between arrays whose rows begin a stride apart. They must
// not overlap.
func (l Level) CopyRows(dst []float32, dstStride int, src []float32, srcStride, rows, width int) {
	checkRows("copy to", len(dst), dstStride, rows, width)
	checkRows("copy from", len(src), srcStride, rows, width)
	if k := table[l].copyRows; k == nil {
		copyRowsGeneric(dst, dstStride, src, srcStride, rows, width)
	} else if rows > 0 && width > 0 {
		k(at(dst), dstStride, at(src), srcStride, rows, width)
	}
}

// Transpose copies src, rows × cols, to dst, cols × rows. Their rows begin a stride apart. They must not
// overlap.
func (l Level) Transpose(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	checkRows("transpose to", len(dst), dstStride, cols, rows)
	checkRows("transpose from", len(src), srcStride, rows, cols)
	k, row, blocks := table[l].transpose8, 0, cols/8
	if k != nil && blocks > 0 {
		for ; row+8 <= rows; row += 8 {
			k(at(dst[row:]), dstStride, at(src[row*srcStride:]), srcStride, blocks)
			if rest := 8 * blocks; rest < cols {
				transposeGeneric(dst[rest*dstStride+row:], dstStride, src[row*srcStride+rest:], srcStride, 8, cols-rest)
			}
		}
	}
	if row < rows {
		transposeGeneric(dst[row:], dstStride, src[row*srcStride:], srcStride, rows-row, cols)
	}
}

// SumRows adds rows of len(dst) elements of src, which begin stride apart, to dst, in their order.
func (l Level) SumRows(dst, src []float32, stride, rows int) {
	checkRows("sum of rows", len(src), stride, rows, len(dst))
	if k := table[l].sumRows; k == nil {
		sumRowsGeneric(dst, src, stride, rows)
	} else if rows > 0 && len(dst) > 0 {
		k(at(dst), at(src), stride, rows, len(dst))
	}
}

// Add adds src to dst, of equal length.
func (l Level) Add(dst, src []float32) { table[l].add.run("add", addGeneric, dst, src) }

// Flags of a tile, equal to the generator's.
const (
	flagLoad = 1
	flagReLU = 2
)

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// at is the address of the first element. The slice may be empty.
func at[T any](s []T) *T { return unsafe.SliceData(s) }
