//go:build !noasm

package simd

import "unsafe"

// Bits of the assembly's parameter flags.
const (
	flagLoad = 1
	flagReLU = 2
)

// TileShape returns the rows of a Tile and its two widths: wide, and narrow for a last panel.
func (l Level) TileShape() (rows, wide, narrow int) {
	switch l {
	case AVX512:
		return 12, 32, 16
	case AVX2:
		return 6, 16, 8
	}
	return genericRows, genericWidth, genericWidth
}

// OuterShape returns the rows and the width of a Sum.
func (l Level) OuterShape() (rows, width int) {
	switch l {
	case AVX512:
		return 8, 48
	case AVX2:
		return 4, 24
	}
	return genericRows, genericWidth
}

// multiply runs the kernel with the fewest rows that suffice: it takes the same sums in the same order.
func (l Level) multiply(t *Tile, width int) {
	flags := flagLoad*bit(t.Load) | flagReLU*bit(t.ReLU)
	switch {
	case l == AVX512 && width == 32:
		multiplyAVX512(t, flags)
	case l == AVX512:
		multiplyNarrowAVX512(t, flags)
	case l == AVX2:
		multiplyAVX2(t, width, flags)
	default:
		tileGeneric(t)
	}
}

func multiplyAVX512(t *Tile, flags int) {
	offsets := unsafe.SliceData(t.Offsets)
	switch {
	case t.Rows > 8:
		tile12x32AVX512(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	case t.Rows > 4:
		tile8x32AVX512(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	default:
		tile4x32AVX512(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	}
}

func multiplyNarrowAVX512(t *Tile, flags int) {
	offsets := unsafe.SliceData(t.Offsets)
	switch {
	case t.Rows > 8:
		tile12x16AVX512(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	case t.Rows > 4:
		tile8x16AVX512(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	default:
		tile4x16AVX512(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	}
}

func multiplyAVX2(t *Tile, width, flags int) {
	offsets := unsafe.SliceData(t.Offsets)
	switch {
	case t.Rows > 3 && width == 16:
		tile6x16AVX2(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	case t.Rows > 3:
		tile6x8AVX2(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	case width == 16:
		tile3x16AVX2(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	default:
		tile3x8AVX2(at(t.A), offsets, at(t.Panel), t.Taps, t.Depth, t.TapStride, t.PanelSkip, at(t.Dst), t.DstStride, t.Rows, at(t.Bias), at(t.Mask), flags, at(t.begin()), t.Next, at(t.ahead()), 0, 0, 0)
	}
}

func (l Level) outer(s *Sum) {
	flags := flagLoad * bit(s.Load)
	switch l {
	case AVX512:
		outer8x48AVX512(at(s.A), s.AStride, at(s.Panel), s.Depth, at(s.Dst), s.DstStride, s.Rows, flags)
	case AVX2:
		outer4x24AVX2(at(s.A), s.AStride, at(s.Panel), s.Depth, at(s.Dst), s.DstStride, s.Rows, flags)
	default:
		outerGeneric(s)
	}
}

// BatchShape returns what the rows of a Batch are a multiple of, and its width.
func (l Level) BatchShape() (rows, width int) {
	switch l {
	case AVX512:
		return 4, 32
	case AVX2:
		return 3, 16
	}
	return genericRows, genericWidth
}

func (l Level) multiplyBatch(b *Batch) {
	switch l {
	case AVX512:
		batch12x32AVX512(at(b.A), b.APoint, b.Rows, b.Depth, at(b.Panel), b.PanelPoint, at(b.Dst), b.DstPoint, b.DstStride, b.Points, nil, nil, 0)
	case AVX2:
		batch6x16AVX2(at(b.A), b.APoint, b.Rows, b.Depth, at(b.Panel), b.PanelPoint, at(b.Dst), b.DstPoint, b.DstStride, b.Points, nil, nil, 0)
	default:
		batchGeneric(b)
	}
}

// CrossShape returns what the rows of a Cross are a multiple of, and its width.
func (l Level) CrossShape() (rows, width int) {
	switch l {
	case AVX512:
		return 8, 32
	case AVX2:
		return 4, 16
	}
	return genericRows, genericWidth
}

func (l Level) cross(c *Cross) {
	flags := flagLoad * bit(c.Load)
	ahead, aheadStride := at(c.Ahead), c.AheadStride
	if len(c.Ahead) == 0 { // what is there already
		ahead, aheadStride = at(c.A), 0
	}
	switch l {
	case AVX512:
		cross8x32AVX512(at(c.A), c.AStride, at(c.B), c.BStride, c.Depth, at(c.Dst), c.DstStride, c.Rows/8, flags, ahead, aheadStride)
	case AVX2:
		cross4x16AVX2(at(c.A), c.AStride, at(c.B), c.BStride, c.Depth, at(c.Dst), c.DstStride, c.Rows/4, flags, ahead, aheadStride)
	default:
		crossGeneric(c)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l Level) copyRows(dst []float32, dstStride int, src []float32, srcStride, rows, width int) {
	switch l {
	case AVX512:
		copyRowsAVX512(at(dst), dstStride, at(src), srcStride, rows, width)
	case AVX2:
		copyRowsAVX2(at(dst), dstStride, at(src), srcStride, rows, width)
	default:
		copyRowsGeneric(dst, dstStride, src, srcStride, rows, width)
	}
}

// transpose gives whole blocks of 8×8 to the assembly and the rest to its twin.
func (l Level) transpose(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	if l == Generic {
		transposeGeneric(dst, dstStride, src, srcStride, rows, cols)
		return
	}
	row, blocks := 0, cols/8
	for ; row+8 <= rows && blocks > 0; row += 8 {
		transpose8AVX2(at(dst[row:]), dstStride, at(src[row*srcStride:]), srcStride, blocks)
		if rest := 8 * blocks; rest < cols {
			transposeGeneric(dst[rest*dstStride+row:], dstStride, src[row*srcStride+rest:], srcStride, 8, cols-rest)
		}
	}
	if row < rows {
		transposeGeneric(dst[row:], dstStride, src[row*srcStride:], srcStride, rows-row, cols)
	}
}

func (l Level) sumRows(dst, src []float32, stride, rows int) {
	switch l {
	case AVX512:
		sumRowsAVX512(at(dst), at(src), stride, rows, len(dst))
	case AVX2:
		sumRowsAVX2(at(dst), at(src), stride, rows, len(dst))
	default:
		sumRowsGeneric(dst, src, stride, rows)
	}
}

func (l Level) add(dst, src []float32) {
	switch l {
	case AVX512:
		addAVX512(at(dst), at(src), len(dst))
	case AVX2:
		addAVX2(at(dst), at(src), len(dst))
	default:
		addGeneric(dst, src)
	}
}
