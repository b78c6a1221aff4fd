package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// winogradSum is a filter gradient in progress by Winograd's algorithm: with windows of the input and tiles
// of the output's gradient transformed to 36 points,
//
//	sums[point][k, c] = sum over tiles of gradients[point][tile, k] · windows[point][tile, c]
//
// are transformed to the 3×3 taps. Blocks of tiles follow each other as in a correlation. For a block, a task
// adds the products of some output channels at one point.
type winogradSum struct {
	grid  tileGrid
	level simd.Level // whose outer products are used
	wide  int        // columns of an outer product
	band  int        // output channels in a task
	bands int
	block int // tiles in a block
	first int // of the block in progress
	tiles int // in it

	// Distances of points.
	windowStride, gradientStride, sumStride int
}

// Sizes of transformed windows and gradients of a block, in floats. If the sums of all points are few, a
// block stays in a core's own cache together with them. If they are many, they are read and written as seldom
// as the shared cache allows.
const (
	fewSums       = 1 << 20
	fewSumsFloats = 192 << 10
	sumFloats     = 6 << 20
	bandRows      = 128 // output channels in a task
)

// suitsWinogradSum reports whether a filter gradient is computed by Winograd's algorithm. That depends on
// its shape alone.
func (c *CPU) suitsWinogradSum(g *Geometry) bool {
	if g.R != 3 || g.S != 3 || g.Stride > 1 || g.C*g.K == 0 || g.C%simd.WinogradLanes != 0 || g.K%simd.WinogradLanes != 0 {
		return false
	}
	pair := filterCost
	if g.manySums() {
		pair = sumsCost
	}
	return c.worthWinograd(g.N*g.P*g.Q*g.R*g.S, newTileGrid(g.N, g.P, g.Q).tiles, g.C, g.K, pair)
}

// manySums reports whether the sums of all points would leave a core's own cache.
func (g *Geometry) manySums() bool { return points*g.K*g.C > fewSums }

func (c *CPU) planWinogradSum(g *Geometry) winogradSum {
	w := winogradSum{grid: newTileGrid(g.N, g.P, g.Q), level: c.level}
	if _, w.wide = w.level.CrossShape(); w.level == simd.AVX512 && g.C%w.wide != 0 {
		w.level = simd.AVX2
		_, w.wide = w.level.CrossShape()
	}
	w.band = min(g.K, bandRows)
	w.bands = tensor.Ceil(g.K, w.band)
	floats := fewSumsFloats
	if g.manySums() {
		floats = sumFloats
	}
	blocks := tensor.Ceil(points*w.grid.tiles*(g.C+g.K), floats)
	w.block = tensor.Ceil(w.grid.tiles, blocks)
	w.windowStride = w.block*g.C + pointPad
	w.gradientStride = w.block*g.K + pointPad
	w.sumStride = g.K*g.C + pointPad
	return w
}

func (c *CPU) sumWinograd(f *filterSum) {
	c.winoSum = c.planWinogradSum(&f.g)
	w := &c.winoSum
	c.windows = tensor.Grow(c.windows, points*w.windowStride)
	c.packed = tensor.Grow(c.packed, points*w.gradientStride)
	c.partial = tensor.Grow(c.partial, points*w.sumStride)
	c.reserve(need{slab: points * max(f.g.C, f.g.K)})
	for ; w.first < w.grid.tiles; w.first += w.block {
		w.tiles = min(w.block, w.grid.tiles-w.first)
		c.workers.Run(tensor.Ceil(w.tiles, inputRun), c.tasks.sumInput)
		c.workers.Run(points*w.bands, c.tasks.sumProduct)
	}
	c.workers.Run(f.g.K, c.tasks.sumOutput)
	c.winoSum = winogradSum{}
}

// sumInputBlock transforms windows and gradients of a few tiles.
func (c *CPU) sumInputBlock(worker, index int) {
	f, w, s := &c.filter, &c.winoSum, &c.scratch[worker]
	g := &f.g
	from := index * inputRun
	for tile := from; tile < min(from+inputRun, w.tiles); tile++ {
		image, p, q := w.grid.at(w.first + tile)
		window := windowOf(c.level, s, f.x[image*g.H*g.W*g.C:], g.H, g.W, g.C, p-g.Pad, q-g.Pad, windowSide)
		c.level.WinogradInput(simd.Matrix{Data: c.windows[tile*g.C:], Row: windowSide * w.windowStride,
			Column: w.windowStride}, window, g.C)
		gradient := windowOf(c.level, s, f.dy[image*g.P*g.Q*g.K:], g.P, g.Q, g.K, p, q, tileSide)
		c.level.WinogradGradient(simd.Matrix{Data: c.packed[tile*g.K:], Row: windowSide * w.gradientStride,
			Column: w.gradientStride}, gradient, g.K)
	}
}

// sumProductBlock adds the block's products of one band of output channels at one point.
func (c *CPU) sumProductBlock(worker, index int) {
	g, w, s := &c.filter.g, &c.winoSum, &c.scratch[worker]
	point, from := index/w.bands, index%w.bands*w.band
	s.cross = simd.Cross{AStride: g.K, BStride: g.C, Depth: w.tiles, DstStride: g.C, Rows: min(w.band, g.K-from),
		Load: w.first > 0}
	for column := 0; column < g.C; column += w.wide {
		s.cross.A, s.cross.B = c.packed[point*w.gradientStride+from:], c.windows[point*w.windowStride+column:]
		s.cross.Dst = c.partial[point*w.sumStride+from*g.C+column:]
		w.level.Cross(&s.cross)
	}
	s.cross = simd.Cross{}
}

// sumOutputBlock transforms the sums of one output channel to its filter's gradient.
func (c *CPU) sumOutputBlock(_, k int) {
	f, w := &c.filter, &c.winoSum
	g := &f.g
	c.level.WinogradFilterGradient(
		simd.Matrix{Data: f.dw[k*g.R*g.S*g.C:], Row: g.S * g.C, Column: g.C},
		simd.Matrix{Data: c.partial[k*g.C:], Row: windowSide * w.sumStride, Column: w.sumStride}, g.C, f.accumulate)
}
