package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// correlation is the common form of forward pass and data gradient:
//
//	out[n,p,q,j] (+)= sum over r,s,c of in[n, p·step+r-padH, q·step+s-padW, c] · F[r,s,c,j]
//
// in is n×h×w×depth, out n×p×q×width. F is the filter w, stored width×r×s×depth: F[r,s,c,j] = w[j,r,s,c]. Or
// it is turned, stored depth×R×S×width: F[r,s,c,j] = w[c, R-1-r, S-1-s, j]. If a data gradient takes only
// some of the taps, taps selects them.
type correlation struct {
	in             []float32
	n, h, w, depth int
	r, s           int
	step           int // the stride
	padH, padW     int // negative if the first window begins inside of the input
	out            []float32
	p, q, width    int
	filter         []float32
	turned         bool
	taps           tapGrid
	bias, mask     []float32
	shortcut       []float32 // added to out, in its shape
	relu, load     bool

	plan plan
}

// way is how the outputs are gone through.
type way uint8

const (
	overBlocks way = iota // blocks of output rows
	overImages            // tiles over images: images_cpu.go
	scattered             // cells of the input: scatter_cpu.go
)

// plan is how a correlation is cut. It depends on shapes alone.
type plan struct {
	way                way
	level              simd.Level // whose tiles are used
	rows, wide, narrow int        // tile shape
	panels             int        // panels of output channels; the last may be narrow or partly empty
	images             int        // images in a block of rows, or
	lines              int        // output rows in a block, if an image has several blocks
	imageBlocks        int        // blocks of an image, 1 if a block holds whole images
	rowBlocks          int
	groups, perGroup   int  // groups of panels, and panels in each: a block is rows × group
	private            bool // each block packs its own panels
	chunk              int  // reduction steps in one call of the tile kernel at most
}

// Sizes in floats of data that should stay in the second-level cache (1 to 2 MiB on server cores).
const (
	slabFloats    = 96 << 10 // block of input
	panelFloats   = 48 << 10 // panels at work
	cellTarget    = 384      // output cells in a block
	blockTarget   = 32       // blocks of an operation at least, for the pool to share
	sweepTiles    = 4        // tiles of cells that go through all panels together, if these are private
	askTaps       = 8        // taps that a long one counts as, for the rows that a tile asks for with each
	privateFilter = 4 << 20  // filters from this size on are not packed as a whole
)

// reduction is the number of products in one output.
func (k *correlation) reduction() int { return k.r * k.s * k.depth }

// span is the length of a filter row: its taps and channels lie side by side in a padded input.
func (k *correlation) span() int { return k.s * k.depth }

// padded reports whether a window leaves the input, or the first does not begin at the start of the input.
func (k *correlation) padded() bool {
	return k.padH != 0 || k.padW != 0 || k.height(k.p) > k.h || k.columns() > k.w
}

// dense reports whether the windows are consecutive rows of the input.
func (k *correlation) dense() bool { return k.r*k.s == 1 && k.h*k.w == 1 }

// height is the number of input rows that the windows of some output rows cover.
func (k *correlation) height(lines int) int { return (lines-1)*k.step + k.r }

// columns is the number of input columns that the windows of an output row cover.
func (k *correlation) columns() int { return (k.q-1)*k.step + k.s }

func (c *CPU) correlate() {
	k := &c.corr
	if k.n*k.p*k.q*k.width == 0 {
		return
	}
	if c.suitsWinograd(k) {
		c.correlateWinograd(k)
		c.corr = correlation{}
		return
	}
	k.plan = c.planCorrelation(k)
	blocks, task, needed := k.plan.rowBlocks*k.plan.groups, c.tasks.correlate, k.need()
	switch k.plan.way {
	case scattered:
		blocks, task, needed = k.n*k.plan.groups, c.tasks.scatter, k.scatterNeed()
	case overImages:
		blocks, task = tensor.Ceil(k.n, k.plan.rows)*k.plan.panels, c.tasks.images
	}
	if !k.plan.private {
		c.packed = tensor.Grow(c.packed, k.plan.packedLen(k.reduction()))
		c.workers.Run(k.plan.panels, c.tasks.pack)
	}
	c.reserve(needed)
	c.workers.Run(blocks, task)
	c.corr = correlation{} // do not keep the caller's memory alive
}

func (c *CPU) planCorrelation(k *correlation) plan {
	var pl plan
	pl.level = c.level.TileLevel(k.width)
	pl.rows, pl.wide, pl.narrow = pl.level.TileShape()
	pl.panels = tensor.Ceil(k.width, pl.wide)
	large := k.reduction()*k.width >= privateFilter
	pl.cutRows(k, large)
	pl.private = large || pl.rowBlocks == 1
	pl.perGroup = max(1, min(8, pl.panels*pl.rowBlocks/blockTarget))
	if !pl.private {
		pl.perGroup = max(1, pl.panels/tensor.Ceil(blockTarget, pl.rowBlocks))
	}
	pl.groups = tensor.Ceil(pl.panels, pl.perGroup)
	working := 1 // panels that share the cache
	if pl.private {
		working = pl.perGroup
	}
	pl.chunk = max(64, panelFloats/(working*pl.wide))
	if len(k.mask) > 0 && &k.mask[0] == &k.out[0] {
		// Partial sums would destroy a mask in the same memory. The result is equal, because a sum continues
		// from its first chunk.
		pl.chunk, pl.perGroup, pl.groups = k.reduction(), 1, pl.panels
	}
	switch {
	case k.suitsScatter(&pl):
		pl.way = scattered
		pl.cutScatter(k.depth)
	case k.suitsImages(&pl):
		pl.way, pl.private = overImages, false
	}
	return pl
}

// cutRows chooses blocks of output rows, as large as the cache allows for the input block.
func (pl *plan) cutRows(k *correlation, large bool) {
	line := k.columns() * k.depth
	image := k.height(k.p) * line
	cells := k.p * k.q
	pl.imageBlocks, pl.lines = 1, k.p
	switch {
	case large:
		pl.images = k.n
	case cells <= cellTarget && image <= slabFloats:
		pl.images = min(cellTarget/cells, max(1, slabFloats/max(1, image)))
		pl.images = max(1, min(pl.images, tensor.Ceil(k.n, tensor.Ceil(k.n, pl.images))))
		if cells == 1 {
			pl.images = min(tensor.CeilTo(pl.images, pl.rows), k.n) // whole tiles
		}
	default:
		pl.images = 1
		lines := max(1, min(k.p, cellTarget/k.q, (slabFloats/max(1, line)-k.r)/k.step+1))
		pl.imageBlocks = tensor.Ceil(k.p, lines)
		pl.lines = tensor.Ceil(k.p, pl.imageBlocks)
		pl.imageBlocks = tensor.Ceil(k.p, pl.lines)
	}
	pl.rowBlocks = tensor.Ceil(k.n, pl.images) * pl.imageBlocks
}

// need is the scratch memory of the plan.
func (k *correlation) need() need {
	pl := &k.plan
	cells := pl.images * pl.lines * k.q
	n := need{offsets: tensor.CeilTo(cells, pl.rows), edge: pl.rows * pl.wide}
	if k.padded() {
		n.slab = pl.images * k.height(pl.lines) * k.columns() * k.depth
	}
	if pl.private {
		n.panel = pl.perGroup * pl.wide * min(pl.chunk, k.reduction())
	}
	return n
}

// packedLen is the size of all panels.
func (pl *plan) packedLen(reduction int) int { return pl.panels * pl.wide * reduction }

// panelWidth is the width of a panel's tiles. It is narrow if that covers the remaining channels.
func (pl *plan) panelWidth(panel, width int) int {
	if width-panel*pl.wide <= pl.narrow {
		return pl.narrow
	}
	return pl.wide
}

// block is a range of output rows: of several whole images, or of one.
type block struct {
	image, images int
	line, lines   int
	cells         int // output cells
	first         int // index of the first output cell
	base          []float32
	imageStride   int // distance of images in base
	lineStride    int // distance of rows in base
}

func (k *correlation) rowBlock(index int) block {
	b := block{image: index / k.plan.imageBlocks * k.plan.images, line: index % k.plan.imageBlocks * k.plan.lines}
	b.images = min(k.plan.images, k.n-b.image)
	b.lines = min(k.plan.lines, k.p-b.line)
	b.cells = b.images * b.lines * k.q
	b.first = (b.image*k.p + b.line) * k.q
	return b
}

// correlateBlock computes a block of rows × a group of panels.
func (c *CPU) correlateBlock(worker, index int) {
	k, s := &c.corr, &c.scratch[worker]
	b := k.rowBlock(index / k.plan.groups)
	c.gather(k, s, &b)
	k.windows(s, &b)
	group := index % k.plan.groups
	lo := group * k.plan.perGroup
	hi := min(lo+k.plan.perGroup, k.plan.panels)
	span := k.span()
	switch {
	case k.plan.chunk >= k.reduction() || span == 0:
		c.correlateChunk(k, s, &b, lo, hi, 0, 0, k.r, span)
	case k.plan.chunk >= span:
		taps := k.plan.chunk / span
		for tap := 0; tap < k.r; tap += taps {
			c.correlateChunk(k, s, &b, lo, hi, tap, 0, min(taps, k.r-tap), span)
		}
	default:
		for tap := range k.r {
			for at := 0; at < span; at += k.plan.chunk {
				c.correlateChunk(k, s, &b, lo, hi, tap, at, 1, min(k.plan.chunk, span-at))
			}
		}
	}
	s.tile = simd.Tile{}
}

// correlateChunk adds a part of the reduction: taps filter rows from tap on, and of each the depth
// products from at on. Its first part starts the sums, its last one finishes them.
func (c *CPU) correlateChunk(k *correlation, s *scratch, b *block, lo, hi, tap, at, taps, depth int) {
	from := tap*k.span() + at
	length := taps * depth
	last := from+length == k.reduction()
	if k.plan.private {
		s.panel = tensor.Grow(s.panel, (hi-lo)*k.plan.wide*length)
		for panel := lo; panel < hi; panel++ {
			c.packPanel(k, s.panel[(panel-lo)*k.plan.wide*length:], panel, from, length)
		}
	}
	// If the input comes from memory, a few tiles' input goes through all panels before the next is read.
	sweep := b.cells
	if k.plan.private {
		sweep = sweepTiles * k.plan.rows
	}
	for cell := 0; cell < b.cells; cell += sweep {
		for panel := lo; panel < hi; panel++ {
			width := k.plan.panelWidth(panel, k.width)
			packed := c.packed
			if k.plan.private {
				packed = s.panel[(panel-lo)*k.plan.wide*length:][:width*length]
			} else {
				packed = packed[panel*k.plan.wide*k.reduction()+from*width:][:width*length]
			}
			s.tile = simd.Tile{
				A:    b.base[min(tap*b.lineStride+at, len(b.base)):],
				Taps: taps, Depth: depth, TapStride: b.lineStride,
				Panel: packed, Load: from > 0 || k.load || k.shortcut != nil,
			}
			if taps == 1 && depth%askTaps == 0 { // the same products in the same order, with more rows asked for
				s.tile.Taps, s.tile.Depth, s.tile.TapStride = askTaps, depth/askTaps, depth/askTaps
			}
			c.correlateCells(k, s, b, panel, cell, min(cell+sweep, b.cells), panel == lo, from == 0, last)
		}
	}
}

// correlateCells runs the tile of a worker for cells lo to hi of a block and the channels of a panel. While
// it computes a tile, it prefetches the output of the next. It also prefetches the input if that is fresh,
// that is not read yet.
func (c *CPU) correlateCells(k *correlation, s *scratch, b *block, panel, lo, hi int, fresh, first, last bool) {
	width, column := k.plan.panelWidth(panel, k.width), panel*k.plan.wide
	fresh = fresh && first && last && k.dense()
	for cell := lo; cell < hi; cell += k.plan.rows {
		s.tile.Rows = min(k.plan.rows, hi-cell)
		s.tile.Offsets = s.offsets[cell:]
		s.tile.Next, s.tile.Ahead = (lo-cell)*k.width+k.plan.wide, nil // of the next panel
		if next := cell + k.plan.rows; next < hi {
			s.tile.Next = k.plan.rows * k.width
			if fresh && next < b.cells {
				s.tile.Ahead = b.base[next*k.depth:]
			}
		}
		c.multiply(k, s, (b.first+cell)*k.width+column, k.width, column, width, first, last)
	}
}
