package conv

import "nmn/kernels/simd"

// winograd is a correlation with a 3×3 filter in progress, by Winograd's F(4×4, 3×3): the output is cut
// into tiles of 4×4, each from a window of 6×6 inputs. Windows and filter are transformed to 36 points
// each; at every point, what is left is a matrix product over channels,
//
//	products[point][tile, j] = sum over c of windows[point][tile, c] · filters[point][c, j]
//
// and a product's tile is transformed to outputs. That takes 36 products where the sum itself takes 144.
// The transforms are those of package simd, the matrix product is the tile kernel's.
//
// Blocks of tiles follow each other, as many as keep the transformed windows in the cache that the
// workers share. Of a block, a task multiplies a run of tiles by a group of output channels: its
// products stay in its own cache.
type winograd struct {
	grid   tileGrid
	level  simd.Level // whose matrix product is used
	rows   int        // of which a run is a multiple
	wide   int        // output channels in a panel of filters
	run    int        // tiles in a task
	block  int        // tiles in a block, a multiple of runs
	group  int        // output channels in a task
	groups int
	// private tells that a task computes all runs of a block, with filters that it has transformed for
	// itself: those of all groups together would not stay in the caches.
	private bool

	first, tiles int // of the block in progress

	// Distances of points.
	windowStride, filterStride, productStride int
}

// tileGrid is how the 4×4 tiles of an output lie.
type tileGrid struct{ down, across, tiles int }

func newTileGrid(images, p, q int) tileGrid {
	g := tileGrid{down: ceilDiv(p, tileSide), across: ceilDiv(q, tileSide)}
	g.tiles = images * g.down * g.across
	return g
}

// at returns the image of a tile and its first output cell.
func (g tileGrid) at(tile int) (image, p, q int) {
	inImage := tile % (g.down * g.across)
	return tile / (g.down * g.across), inImage / g.across * tileSide, inImage % g.across * tileSide
}

const (
	tileSide   = 4
	windowSide = tileSide + 2
	points     = windowSide * windowSide

	// Strides of whole pages would let the vectors of the 36 points displace each other in the cache.
	pointPad = 16
)

// Sizes, chosen by measurement.
const (
	windowFloats   = 2 << 20     // transformed windows of a block
	tileRun        = 48          // tiles in a run
	channelGroup   = 64          // output channels in a group
	inputRun       = 4           // tiles whose windows a task transforms
	filterChannels = 16          // input channels whose filters are transformed at a time
	sharedFilter   = 256*256 - 1 // products of channels up to which all filters are transformed at once
)

// suitsWinograd tells whether a correlation is computed by Winograd's algorithm. That depends on its
// shape alone.
func (c *CPU) suitsWinograd(k *correlation) bool {
	if k.r != 3 || k.s != 3 || k.depth*k.width == 0 || k.depth%simd.WinogradLanes != 0 || k.width%simd.WinogradLanes != 0 {
		return false
	}
	met := k.n * inside(k.p, k.r, k.padH, k.h) * inside(k.q, k.s, k.padW, k.w)
	return c.worthWinograd(met, newTileGrid(k.n, k.p, k.q).tiles, k.depth, k.width, filterCost)
}

// What transforms cost, measured with AVX-512: those of a channel of a tile as much as so many products
// at each point, those of a pair of channels as much as the products of so many tiles.
const (
	channelCost = 16
	filterCost  = 16 // also of a filter gradient with few sums
	sumsCost    = 48 // of one with many
)

// worthWinograd is the rule of choice: Winograd's products and transforms must be fewer than nine tenths
// of the direct products. direct counts those for each pair of channels; pair is the cost of a pair.
func worthWinograd(direct, tiles, depth, width, pair int) bool {
	transforms := channelCost/float64(depth) + channelCost/float64(width)
	return points*(float64(tiles)*(1+transforms)+float64(pair)) < .9*float64(direct)
}

// never is the rule where convolutions are to be exact.
func never(int, int, int, int, int) bool { return false }

func (c *CPU) planWinograd(k *correlation) winograd {
	w := winograd{grid: newTileGrid(k.n, k.p, k.q), level: c.winogradLevel(k.width), group: min(k.width, channelGroup)}
	w.rows, w.wide = w.level.BatchShape()
	w.private = k.depth*k.width > sharedFilter
	if w.private {
		w.group = max(w.wide, simd.WinogradLanes)
	}
	w.groups = ceilDiv(k.width, w.group)
	w.run = roundUp(min(tileRun, w.grid.tiles), w.rows)
	runs := ceilDiv(w.grid.tiles, w.run)
	blocks := ceilDiv(runs, max(1, windowFloats/(points*k.depth*w.run)))
	w.block = ceilDiv(runs, blocks) * w.run
	w.windowStride = w.block*k.depth + pointPad
	w.filterStride = k.depth*w.wide + pointPad
	w.productStride = w.run*w.group + pointPad
	return w
}

func roundUp(n, multiple int) int { return ceilDiv(n, multiple) * multiple }

// winogradLevel is the level whose matrix product is the fastest: that of AVX-512 would leave half of
// an odd panel empty.
func (c *CPU) winogradLevel(channels int) simd.Level {
	if _, wide := c.level.BatchShape(); c.level == simd.AVX512 && channels%wide != 0 {
		return simd.AVX2
	}
	return c.level
}

func (c *CPU) correlateWinograd(k *correlation) {
	c.wino = c.planWinograd(k)
	w := &c.wino
	c.windows = grow(c.windows, points*w.windowStride)
	n := need{slab: points * k.depth, edge: points * w.productStride, columns: k.r * k.s * filterChannels * w.wide}
	if w.private {
		n.panel = w.group / w.wide * points * w.filterStride
	}
	c.reserve(n)
	if !w.private {
		panels := k.width / w.wide
		c.packed = grow(c.packed, panels*points*w.filterStride)
		c.workers.Run(panels*ceilDiv(k.depth, filterChannels), c.tasks.winogradFilter)
	}
	for ; w.first < w.grid.tiles; w.first += w.block {
		w.tiles = min(w.block, w.grid.tiles-w.first)
		c.workers.Run(ceilDiv(w.tiles, inputRun), c.tasks.winogradInput)
		if w.private {
			c.workers.Run(w.groups, c.tasks.winogradGroup)
		} else {
			c.workers.Run(ceilDiv(w.tiles, w.run)*w.groups, c.tasks.winogradRun)
		}
	}
	c.wino = winograd{}
}
