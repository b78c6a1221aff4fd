package conv

import (
	"cmp"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// filterSum is a filter gradient in progress:
//
//	dw[k, e] (+)= sum over cells m of dy[m, k] · window(m)[e]
//
// with e over filter rows, columns and channels. The sum over cells is cut into parts, each with its own copy
// of dw if there is more than one. Then the copies are added in their order.
type filterSum struct {
	g          Geometry
	dw, x, dy  []float32
	accumulate bool

	rows, width int // tile shape
	reduction   int // R·S·C, the columns of dw
	parts       int // parts of the sum over cells
	perPart     int // cell blocks in a part
	blockLines  int // output rows in a cell block
	bands       int // ranges of output channels
	perBand     int // output channels in a band
	strips      int // ranges of columns
	perStrip    int // tile columns in a strip
}

const (
	sumCells     = 256     // cells in a block of the sum: its panels stay in the first-level cache
	partialLimit = 4 << 20 // floats in all copies of dw
	bandChannels = 64      // output channels that share packed windows at least
	joinFloats   = 16 << 10
)

func (c *CPU) ConvGradFilter(dw, x, dy *tensor.Tensor, p Params) error {
	g, err := Fit("conv filter gradient", x, dw, dy, p)
	if err := cmp.Or(err, tensor.OnHost("conv filter gradient", tensor.Float32, dw, x, dy)); err != nil {
		return err
	}
	c.filter = filterSum{g: g.flat(), dw: dw.Float32s(), x: x.Float32s(), dy: dy.Float32s(), accumulate: p.Accumulate}
	f := &c.filter
	if len(f.dw) == 0 {
		return nil
	}
	if c.suitsWinogradSum(&f.g) {
		c.sumWinograd(f)
		c.filter = filterSum{}
		return nil
	}
	if c.suitsCross(&f.g) {
		c.sumCross(f)
		c.filter = filterSum{}
		return nil
	}
	c.planFilter(f)
	if f.parts > 1 {
		c.partial = tensor.Grow(c.partial, f.parts*len(f.dw))
	}
	cells := f.blockLines * f.g.Q
	c.reserve(need{
		panel: cells * f.width, edge: f.rows * f.width,
		columns: cells * f.rows, slab: (f.g.W + 2*f.g.Pad) * f.g.C,
	})
	c.workers.Run(f.parts*f.bands*f.strips, c.tasks.filter)
	if f.parts > 1 {
		c.workers.Run(tensor.Ceil(len(f.dw), joinFloats), c.tasks.filterJoin)
	}
	c.filter = filterSum{}
	return nil
}

func (c *CPU) planFilter(f *filterSum) {
	g := f.g
	f.rows, f.width = c.level.OuterShape()
	f.reduction = g.R * g.S * g.C
	f.blockLines = max(1, sumCells/g.Q)
	blocks := tensor.Ceil(g.N*g.P, f.blockLines)
	// Parts first: each reads its cells once. If copies of dw would take too much memory, the rest is shared
	// by bands of output channels, wide enough to pay for packing the windows again, and then by strips of
	// columns.
	f.parts = max(1, min(blocks, blockTarget, partialLimit/len(f.dw)))
	f.perPart = max(1, tensor.Ceil(blocks, f.parts))
	f.parts = max(1, tensor.Ceil(blocks, f.perPart))
	band := tensor.CeilTo(bandChannels, f.rows)
	f.bands = min(tensor.Ceil(blockTarget, f.parts), tensor.Ceil(g.K, band))
	f.perBand = tensor.Ceil(tensor.Ceil(g.K, f.rows), f.bands) * f.rows
	f.bands = tensor.Ceil(g.K, f.perBand)
	columns := tensor.Ceil(f.reduction, f.width)
	f.strips = min(columns, tensor.Ceil(blockTarget, f.parts*f.bands))
	f.perStrip = tensor.Ceil(columns, f.strips)
	f.strips = tensor.Ceil(columns, f.perStrip)
}

// filterBlock computes one part of the sum for one band of output channels and one strip of columns.
func (c *CPU) filterBlock(worker, index int) {
	f, s := &c.filter, &c.scratch[worker]
	part, index := index/(f.bands*f.strips), index%(f.bands*f.strips)
	band, strip := index/f.strips, index%f.strips
	k0 := band * f.perBand
	k1 := min(k0+f.perBand, f.g.K)
	dst, load := f.dw, f.accumulate
	if f.parts > 1 {
		dst, load = c.partial[part*len(f.dw):][:len(f.dw)], false
	}
	last := min((strip+1)*f.perStrip*f.width, f.reduction)
	lines := f.g.N * f.g.P
	line := part * f.perPart * f.blockLines
	end := min(line+f.perPart*f.blockLines, lines)
	if line >= end && !load {
		clearBlock(dst, f.reduction, k0, k1, strip*f.perStrip*f.width, last)
	}
	for ; line < end; line += f.blockLines {
		for column := strip * f.perStrip * f.width; column < last; column += f.width {
			c.filterPanel(f, s, dst, line, min(line+f.blockLines, end), k0, k1, column, load)
		}
		load = true
	}
	s.sum = simd.Sum{}
}

// clearBlock sets rows k0 to k1 of columns lo to hi to 0.
func clearBlock(dst []float32, stride, k0, k1, lo, hi int) {
	for k := k0; k < k1; k++ {
		clear(dst[k*stride+lo : k*stride+hi])
	}
}

// filterPanel adds the cells of output rows line to end to one tile column of dw.
func (c *CPU) filterPanel(f *filterSum, s *scratch, dst []float32, line, end, k0, k1, column int, load bool) {
	cells := (end - line) * f.g.Q
	s.panel = tensor.Grow(s.panel, cells*f.width)
	c.packWindows(f, s, s.panel, line, end, column)
	t := &s.sum
	t.Panel, t.Depth = s.panel, cells
	for k := k0; k < k1; k += f.rows {
		t.Rows = min(f.rows, k1-k)
		t.A, t.AStride = f.dy[line*f.g.Q*f.g.K+k:], f.g.K
		if k+f.rows > f.g.K {
			s.columns = tensor.Grow(s.columns, cells*f.rows)
			c.level.PackColumns(s.columns, f.rows, t.A, f.g.K, cells, t.Rows)
			t.A, t.AStride = s.columns, f.rows
		}
		at := k*f.reduction + column
		if column+f.width <= f.reduction {
			t.Dst, t.DstStride, t.Load = dst[at:], f.reduction, load
			c.level.Outer(t)
			continue
		}
		s.edge = tensor.Grow(s.edge, f.rows*f.width)
		t.Dst, t.DstStride, t.Load = s.edge, f.width, load
		valid := f.reduction - column
		if load {
			c.level.CopyRows(s.edge, f.width, dst[at:], f.reduction, t.Rows, valid)
		}
		c.level.Outer(t)
		c.level.CopyRows(dst[at:], f.reduction, s.edge, f.width, t.Rows, valid)
	}
}

// packWindows writes columns column to column+width of the windows of the cells in output rows line to
// end: panel[cell·width + j]. Columns beyond the last, and padding, are 0.
func (c *CPU) packWindows(f *filterSum, s *scratch, panel []float32, line, end, column int) {
	g := f.g
	valid := min(f.width, f.reduction-column)
	if valid < f.width {
		clear(panel)
	}
	span := g.S * g.C
	for j := 0; j < valid; {
		row, at := (column+j)/span, (column+j)%span
		width := min(valid-j, span-at)
		if g.Pad > 0 && (width < span || span > f.width) {
			width = min(width, g.C-at%g.C)
			c.packTap(f, panel[j:], line, end, row, at/g.C, at%g.C, width)
		} else {
			c.packSpan(f, s, panel[j:], line, end, row, at, width)
		}
		j += width
	}
}

// packSpan writes products at to at+width of one filter row. They are contiguous in the input or, if that is
// padded, in a padded copy of the line.
func (c *CPU) packSpan(f *filterSum, s *scratch, panel []float32, line, end, row, at, width int) {
	g := f.g
	if g.Pad > 0 {
		s.slab = tensor.Grow(s.slab, (g.W+2*g.Pad)*g.C)
		clear(s.slab)
	}
	for ; line < end; line++ {
		image, h := line/g.P, line%g.P*g.Stride+row-g.Pad
		switch {
		case h < 0 || h >= g.H:
			clearBlock(panel, f.width, 0, g.Q, 0, width)
		case g.Pad > 0:
			copy(s.slab[g.Pad*g.C:], f.x[(image*g.H+h)*g.W*g.C:][:g.W*g.C])
			c.level.CopyRows(panel, f.width, s.slab[at:], g.Stride*g.C, g.Q, width)
		default:
			c.level.CopyRows(panel, f.width, f.x[(image*g.H+h)*g.W*g.C+at:], g.Stride*g.C, g.Q, width)
		}
		panel = panel[min(g.Q*f.width, len(panel)):]
	}
}

// packTap writes channels channel to channel+width of one tap, without the padding.
func (c *CPU) packTap(f *filterSum, panel []float32, line, end, row, tap, channel, width int) {
	g := f.g
	shift := tap - g.Pad
	lo := min(tensor.Ceil(max(0, -shift), g.Stride), g.Q)             // first cell whose pixel is inside
	hi := max(lo, min(g.Q, tensor.Ceil(max(0, g.W-shift), g.Stride))) // end of the columns inside
	for ; line < end; line++ {
		image, h := line/g.P, line%g.P*g.Stride+row-g.Pad
		if h < 0 || h >= g.H || lo == hi {
			clearBlock(panel, f.width, 0, g.Q, 0, width)
		} else {
			clearBlock(panel, f.width, 0, lo, 0, width)
			src := ((image*g.H+h)*g.W+lo*g.Stride+shift)*g.C + channel
			c.level.CopyRows(panel[lo*f.width:], f.width, f.x[src:], g.Stride*g.C, hi-lo, width)
			clearBlock(panel, f.width, hi, g.Q, 0, width)
		}
		panel = panel[min(g.Q*f.width, len(panel)):]
	}
}

// joinFilterBlock adds a range of the parts' copies in their order.
func (c *CPU) joinFilterBlock(_, index int) {
	f := &c.filter
	lo := index * joinFloats
	hi := min(lo+joinFloats, len(f.dw))
	dst := f.dw[lo:hi]
	if !f.accumulate {
		clear(dst)
	}
	for part := range f.parts {
		c.level.Add(dst, c.partial[part*len(f.dw)+lo:part*len(f.dw)+hi])
	}
}
