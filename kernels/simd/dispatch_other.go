//go:build !amd64 || noasm

package simd

// TileShape returns the rows of a Tile and its two widths: wide, and narrow for a last panel.
func (l Level) TileShape() (rows, wide, narrow int) { return genericRows, genericWidth, genericWidth }

// Multiply computes a tile whose width is one of TileShape's.
func (l Level) Multiply(t *Tile, width int) {
	t.check(genericRows, width)
	tileGeneric(t)
}

// OuterShape returns the rows and the width of a Sum.
func (l Level) OuterShape() (rows, width int) { return genericRows, genericWidth }

// Outer computes an outer sum.
func (l Level) Outer(s *Sum) {
	s.check(genericRows, genericWidth)
	outerGeneric(s)
}

// CopyRows copies rows of width elements between arrays with strides. They must not overlap.
func (l Level) CopyRows(dst []float32, dstStride int, src []float32, srcStride, rows, width int) {
	checkRows("copy to", len(dst), dstStride, rows, width)
	checkRows("copy from", len(src), srcStride, rows, width)
	copyRowsGeneric(dst, dstStride, src, srcStride, rows, width)
}

// Transpose copies src, rows × cols with a stride, to dst, cols × rows with a stride.
func (l Level) Transpose(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	checkRows("transpose to", len(dst), dstStride, cols, rows)
	checkRows("transpose from", len(src), srcStride, rows, cols)
	transposeGeneric(dst, dstStride, src, srcStride, rows, cols)
}

// SumRows adds rows of len(dst) elements of src, which begin stride apart, to dst, in their order.
func (l Level) SumRows(dst, src []float32, stride, rows int) {
	checkRows("sum of rows", len(src), stride, rows, len(dst))
	sumRowsGeneric(dst, src, stride, rows)
}

// Add adds src to dst, which has its length.
func (l Level) Add(dst, src []float32) {
	addGeneric(dst, src)
}
