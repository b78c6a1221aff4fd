//go:build !amd64 || noasm

package simd

// TileShape returns the rows of a Tile and its two widths: wide, and narrow for a last panel.
func (l Level) TileShape() (rows, wide, narrow int) { return genericRows, genericWidth, genericWidth }

// OuterShape returns the rows and the width of a Sum.
func (l Level) OuterShape() (rows, width int) { return genericRows, genericWidth }

func (l Level) multiply(t *Tile, _ int) { tileGeneric(t) }

func (l Level) outer(s *Sum) { outerGeneric(s) }

// BatchShape returns what the rows of a Batch are a multiple of, and its width.
func (l Level) BatchShape() (rows, width int) { return genericRows, genericWidth }

func (l Level) multiplyBatch(b *Batch) { batchGeneric(b) }

// CrossShape returns what the rows of a Cross are a multiple of, and its width.
func (l Level) CrossShape() (rows, width int) { return genericRows, genericWidth }

func (l Level) cross(c *Cross) { crossGeneric(c) }

func (l Level) copyRows(dst []float32, dstStride int, src []float32, srcStride, rows, width int) {
	copyRowsGeneric(dst, dstStride, src, srcStride, rows, width)
}

func (l Level) transpose(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	transposeGeneric(dst, dstStride, src, srcStride, rows, cols)
}

func (l Level) sumRows(dst, src []float32, stride, rows int) { sumRowsGeneric(dst, src, stride, rows) }

func (l Level) add(dst, src []float32) { addGeneric(dst, src) }
