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
	if !l.tile(t, width, &table[l].wide, &table[l].narrow) {
		tileGeneric(t)
	}
}

// tile computes a tile with one of two kernels for its rows, and reports whether there is one.
func (l Level) tile(t *Tile, width int, wide, narrow *[maxTileRows + 1]tileKernel) bool {
	rows, _, least := l.TileShape()
	t.check(rows, width)
	k := wide[t.Rows]
	if width == least {
		k = narrow[t.Rows]
	}
	if k != nil {
		k(at(t.A), at(t.Offsets), at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows,
			at(t.Bias), at(t.Mask), flagLoad*bit(t.Load)|flagReLU*bit(t.ReLU), at(t.begin()), t.Next, at(t.ahead()))
	}
	return k != nil
}

// MultiplyRows computes tiles of a width below each other, of some rows in all. The rows of A are at offsets, and the
// first tile goes to the start of dst. The caller sets the rest of t.
func (l Level) MultiplyRows(t *Tile, width, rows int, offsets []int, dst []float32) {
	step, _, _ := l.TileShape()
	for row := 0; row < rows; row += step {
		t.Rows, t.Offsets, t.Dst = min(step, rows-row), offsets[row:], dst[row*t.DstStride:]
		l.Multiply(t, width)
	}
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

// PackRows writes a panel: panel[e·width + j] = rows[j·stride + e] for j < valid and e < depth, and 0 for other j.
func (l Level) PackRows(panel []float32, width int, rows []float32, stride, valid, depth int) {
	if panel = panel[:width*depth]; valid < width {
		clear(panel)
	}
	if valid > 0 {
		l.Transpose(panel, width, rows, stride, valid, depth)
	}
}

// PackColumns writes a panel: panel[e·width + j] = rows[e·stride + j] for j < valid and e < depth, and 0 for other j.
func (l Level) PackColumns(panel []float32, width int, rows []float32, stride, depth, valid int) {
	if panel = panel[:width*depth]; valid < width {
		clear(panel)
	}
	if valid > 0 {
		l.CopyRows(panel, width, rows, stride, depth, valid)
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
