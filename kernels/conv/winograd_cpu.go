package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// winograd is a correlation with a 3×3 filter in progress, by Winograd's F(4×4, 3×3). The output is cut into
// tiles of 4×4, each from a window of 6×6 inputs. Windows and filter are transformed to 36 points each. At
// every point a matrix product over channels remains,
//
//	products[point][tile, j] = sum over c of windows[point][tile, c] · filters[point][c, j]
//
// and a product's tile is transformed to outputs. That takes 36 products instead of the sum's 144. Package
// simd has the transforms.
//
// The data of a task stays in the cache of its core. If the input has few channels, a task is a run of tiles:
// it transforms their windows for itself and shares the filters. If it has many, or the whole output is a
// run, a task is a group of output channels. It transforms their filters for itself, and takes the windows of
// all tiles of a block from the cache that the cores share. Blocks follow each other.
type winograd struct {
	grid       tileGrid
	level      simd.Level // whose matrix product is used
	rows       int        // a run is a multiple of this
	wide       int        // output channels in a panel of filters
	ownWindows bool       // tasks are runs, not groups
	run        int        // tiles whose products are in the cache
	group      int        // output channels in a group
	block      int        // tiles whose windows are transformed before tasks start, a multiple of runs

	first, tiles int // of the block in progress

	// Distances of points.
	windowStride, filterStride, productStride int
}

// tileGrid is how the 4×4 tiles of an output lie.
type tileGrid struct{ down, across, tiles int }

func newTileGrid(images, p, q int) tileGrid {
	g := tileGrid{down: tensor.Ceil(p, tileSide), across: tensor.Ceil(q, tileSide)}
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
	ownChannels    = 128      // input channels up to which tasks are runs
	ownFloats      = 96 << 10 // transformed windows of a run, if a task is a run
	windowFloats   = 2 << 20  // transformed windows of a block
	tileRun        = 48       // tiles in a run at most
	fewRuns        = 8        // runs below which they are made equal, for threads to have equal shares
	channelGroup   = 64       // output channels in a group at most
	inputRun       = 4        // tiles whose windows are transformed by a task of their own
	filterChannels = 16       // input channels whose filters are transformed at a time
)

// suitsWinograd reports whether a correlation is computed by Winograd's algorithm. That depends on its
// shape alone.
func (c *CPU) suitsWinograd(k *correlation) bool {
	if k.r != 3 || k.s != 3 || k.step != 1 || k.taps.some() || k.depth*k.width == 0 || k.depth%simd.WinogradLanes != 0 ||
		k.width%simd.WinogradLanes != 0 {
		return false
	}
	met := k.n * inside(k.p, k.r, k.padH, k.h, 1) * inside(k.q, k.s, k.padW, k.w, 1)
	return c.worthWinograd(met, newTileGrid(k.n, k.p, k.q).tiles, k.depth, k.width, filterCost)
}

// Costs of transforms, measured with AVX-512: the transforms of a channel of a tile, in products at each
// point, and the transforms of a pair of channels, in products of tiles.
const (
	channelCost = 16
	filterCost  = 16 // also of a filter gradient with few sums
	sumsCost    = 48 // of a channel with many sums
)

// worthWinograd is the rule of choice: Winograd's products and transforms must be fewer than nine tenths of
// the direct products. direct counts the direct products for each pair of channels. pair is the cost of a
// pair.
func worthWinograd(direct, tiles, depth, width, pair int) bool {
	transforms := channelCost/float64(depth) + channelCost/float64(width)
	return points*(float64(tiles)*(1+transforms)+float64(pair)) < .9*float64(direct)
}

// never is the rule if convolutions must be exact.
func never(int, int, int, int, int) bool { return false }

func (c *CPU) planWinograd(k *correlation) winograd {
	w := winograd{grid: newTileGrid(k.n, k.p, k.q), level: c.winogradLevel(k.width)}
	w.ownWindows = k.depth <= ownChannels && w.grid.tiles > tileRun
	w.rows, w.wide = w.level.BatchShape()
	run, group := tileRun, max(w.wide, simd.WinogradLanes)
	if w.ownWindows {
		run, group = equalRuns(w.grid.tiles, tensor.CeilTo(min(run, ownFloats/(points*k.depth)), w.rows)), channelGroup
	}
	w.run, w.group = tensor.CeilTo(min(run, w.grid.tiles), w.rows), min(k.width, group)
	w.block = w.run
	if !w.ownWindows {
		runs := tensor.Ceil(w.grid.tiles, w.run)
		blocks := tensor.Ceil(runs, max(1, windowFloats/(points*k.depth*w.run)))
		w.block = tensor.Ceil(runs, blocks) * w.run
	}
	w.windowStride = w.block*k.depth + pointPad
	w.filterStride = k.depth*w.wide + pointPad
	w.productStride = w.run*w.group + pointPad
	return w
}

// equalRuns shortens runs if there are few of them, so that all have about the same number of tiles and the
// number of runs is a multiple of 4.
func equalRuns(tiles, run int) int {
	runs := tensor.Ceil(tiles, run)
	if runs >= fewRuns {
		return run
	}
	return tensor.Ceil(tiles, tensor.CeilTo(runs, 4))
}

// winogradLevel is the level with the fastest matrix product: AVX-512 would leave half of an odd panel empty.
func (c *CPU) winogradLevel(channels int) simd.Level {
	if _, wide := c.level.BatchShape(); c.level == simd.AVX512 && channels%wide != 0 {
		return simd.AVX2
	}
	return c.level
}

func (c *CPU) correlateWinograd(k *correlation) {
	c.wino = c.planWinograd(k)
	w := &c.wino
	n := need{slab: points * k.depth, edge: points * w.productStride, columns: k.r * k.s * filterChannels * w.wide}
	if w.ownWindows {
		n.panel = points * w.windowStride
		c.reserve(n)
		c.correlateRuns(k, w)
	} else {
		n.panel = w.group / w.wide * points * w.filterStride
		c.reserve(n)
		c.correlateGroups(k, w)
	}
	c.wino = winograd{}
}

func (c *CPU) correlateRuns(k *correlation, w *winograd) {
	panels := k.width / w.wide
	c.packed = tensor.Grow(c.packed, panels*points*w.filterStride)
	c.workers.Run(panels*tensor.Ceil(k.depth, filterChannels), c.tasks.winogradFilter)
	w.tiles = w.grid.tiles
	c.workers.Run(tensor.Ceil(w.tiles, w.run), c.tasks.winogradRun)
}

func (c *CPU) correlateGroups(k *correlation, w *winograd) {
	c.windows = tensor.Grow(c.windows, points*w.windowStride)
	for ; w.first < w.grid.tiles; w.first += w.block {
		w.tiles = min(w.block, w.grid.tiles-w.first)
		c.workers.Run(tensor.Ceil(w.tiles, inputRun), c.tasks.winogradInput)
		c.workers.Run(tensor.Ceil(k.width, w.group), c.tasks.winogradGroup)
	}
}
