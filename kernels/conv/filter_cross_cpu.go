package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// crossFilter is the partition of a filter gradient whose outer products read x and dy from the core's own
// cache, dw[k, e] (+)= sum over cells m of dy[m, k] · window(m)[e]. A task is a band of output channels × a
// strip of columns × a part of the cells, and goes through its cells in blocks. Dense windows are read in
// place, and while a block is summed the next is prefetched. Windows of other shapes are packed, in rows of a
// strip.
type crossFilter struct {
	rows, wide      int  // shape of the outer products
	band, bands     int  // output channels of a task
	strip, strips   int  // columns of a task, a multiple of wide
	blockLines      int  // output rows in a block
	parts, blocks   int  // parts of the sum, and blocks in all of them
	columns         int  // columns of a row of sums: dw's columns, rounded up to a multiple of wide
	dense           bool // windows are rows of x
	packed, packedY bool // x and dy are packed
}

// Sizes, chosen by measurement.
const (
	crossCells   = 128 // cells in a block
	crossBand    = 128 // output channels of a task at most
	crossStrip   = 256 // columns of a task at most
	crossTasks   = 16  // tasks of an operation at least
	crossLeast   = 64  // cells and columns below which this does not pay
	crossInPlace = 512 // values in a row from which on strips are packed: the lines of a strip would share few sets
)

// suitsCross reports whether a filter gradient is computed this way. That depends on its shape alone.
func (c *CPU) suitsCross(g *Geometry) bool {
	rows, _ := c.level.CrossShape()
	return g.K > 0 && g.K%rows == 0 && g.R*g.S*g.C >= crossLeast && g.N*g.P*g.Q >= crossLeast
}

func (c *CPU) planCross(g *Geometry) crossFilter {
	w := crossFilter{dense: g.R*g.S == 1 && g.P*g.Q == 1}
	w.rows, w.wide = c.level.CrossShape()
	reduction := g.R * g.S * g.C
	w.columns = tensor.CeilTo(reduction, w.wide)
	w.bands = tensor.Ceil(g.K, crossBand)
	w.band = tensor.CeilTo(tensor.Ceil(g.K, w.bands), w.rows)
	w.bands = tensor.Ceil(g.K, w.band)
	w.strips = tensor.Ceil(w.columns, crossStrip)
	w.strip = tensor.CeilTo(tensor.Ceil(w.columns, w.strips), w.wide)
	w.strips = tensor.Ceil(w.columns, w.strip)
	w.blockLines = max(1, crossCells/g.Q)
	w.blocks = tensor.Ceil(g.N*g.P, w.blockLines)
	w.parts = max(1, min(w.blocks, tensor.Ceil(crossTasks, w.bands*w.strips)))
	w.packed = !w.dense || g.C > crossInPlace || w.columns > reduction
	w.packedY = g.K > crossInPlace
	return w
}

// firstLine is the start of a part. Parts differ by at most one block.
func (w *crossFilter) firstLine(part int) int { return part * w.blocks / w.parts * w.blockLines }

// inPlace reports whether the sums go to dw itself.
func (w *crossFilter) inPlace(f *filterSum) bool { return w.parts == 1 && w.columns == f.reduction }

func (c *CPU) sumCross(f *filterSum) {
	c.crossFilter = c.planCross(&f.g)
	w, g := &c.crossFilter, &f.g
	f.reduction, f.width = g.R*g.S*g.C, w.strip
	cells := w.blockLines * g.Q
	c.reserve(need{panel: cells * w.strip, columns: cells * w.band, slab: (g.W + 2*g.Pad) * g.C})
	if !w.inPlace(f) {
		c.partial = tensor.Grow(c.partial, w.parts*g.K*w.columns)
	}
	c.workers.Run(w.parts*w.bands*w.strips, c.tasks.cross)
	if !w.inPlace(f) {
		c.workers.Run(tensor.Ceil(g.K, w.rows), c.tasks.crossJoin)
	}
	c.crossFilter = crossFilter{}
}

// crossBlock computes one task.
func (c *CPU) crossBlock(worker, index int) {
	f, w, s := &c.filter, &c.crossFilter, &c.scratch[worker]
	part, index := index/(w.bands*w.strips), index%(w.bands*w.strips)
	k0, column := index/w.strips*w.band, index%w.strips*w.strip
	dst, load := f.dw, f.accumulate
	if !w.inPlace(f) {
		dst, load = c.partial[part*f.g.K*w.columns:], false
	}
	s.cross = simd.Cross{Rows: min(w.band, f.g.K-k0), DstStride: w.columns, Load: load}
	end := min(w.firstLine(part+1), f.g.N*f.g.P)
	for line := w.firstLine(part); line < end; line += w.blockLines {
		c.crossLines(f, w, s, dst[k0*w.columns+column:], line, min(line+w.blockLines, end), end, k0, column)
		s.cross.Load = true
	}
	s.cross = simd.Cross{}
}

// crossLines adds the cells of output rows line to next to the sums of a task, whose rows end at end.
func (c *CPU) crossLines(f *filterSum, w *crossFilter, s *scratch, dst []float32, line, next, end, k0, column int) {
	g, t := &f.g, &s.cross
	t.Depth = (next - line) * g.Q
	t.A, t.AStride = f.dy[line*g.Q*g.K+k0:], g.K
	if w.packedY {
		s.columns = tensor.Grow(s.columns, t.Depth*t.Rows)
		c.level.CopyRows(s.columns, t.Rows, t.A, g.K, t.Depth, t.Rows)
		t.A, t.AStride = s.columns, t.Rows
	}
	var b []float32
	if w.packed {
		s.panel = tensor.Grow(s.panel, t.Depth*f.width)
		c.packWindows(f, s, s.panel, line, next, column)
		b, t.BStride = s.panel, f.width
	} else {
		b, t.BStride = f.x[line*g.C+column:], g.C
	}
	width := min(w.strip, w.columns-column)
	for j := 0; j < width; j += w.wide {
		t.B, t.Dst = b[j:], dst[j:]
		t.Ahead, t.AheadStride = nil, 0
		if next < end {
			w.ahead(f, t, next, k0, column, j/w.wide, width/w.wide)
		}
		c.level.Cross(t)
	}
}

// ahead gives one of several calls for a block its part of the next block, at line next, to prefetch: lines
// of x, then lines of dy.
func (w *crossFilter) ahead(f *filterSum, t *simd.Cross, next, k0, column, call, calls int) {
	each := t.Rows / w.rows // lines of a row for each call
	ofX := 0
	if w.dense {
		ofX = tensor.Ceil(min(w.strip, f.g.C-column), each*simd.AheadLine)
	}
	ofY := tensor.Ceil(t.Rows, each*simd.AheadLine)
	unit := call * (ofX + ofY) / calls
	if call > 0 && unit == (call-1)*(ofX+ofY)/calls {
		return
	}
	if unit < ofX {
		t.Ahead, t.AheadStride = f.x[next*f.g.C+column+unit*each*simd.AheadLine:], f.g.C
		return
	}
	t.Ahead, t.AheadStride = f.dy[next*f.g.Q*f.g.K+k0+(unit-ofX)*each*simd.AheadLine:], f.g.K
}

// crossJoinBlock adds the parts of some output channels in their order.
func (c *CPU) crossJoinBlock(_, index int) {
	f, w := &c.filter, &c.crossFilter
	for k := index * w.rows; k < min((index+1)*w.rows, f.g.K); k++ {
		dst := f.dw[k*f.reduction:][:f.reduction]
		if !f.accumulate {
			clear(dst)
		}
		for part := range w.parts {
			c.level.Add(dst, c.partial[(part*f.g.K+k)*w.columns:][:f.reduction])
		}
	}
}
