package conv

import (
	"cmp"
	"fmt"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// CPU implements Ops on the host. Forward and data gradient are implicit GEMMs that read the windows of the
// input in place. The data gradient of a large filter scatters its products. The filter gradient sums outer
// products. 3×3 filters take Winograd's algorithm if it pays. Scratch memory grows to the need of the largest
// convolution and stays: calls with shapes seen before allocate nothing.
type CPU struct {
	workers *tensor.Workers
	level   simd.Level
	// worthWinograd is the rule by which shapes that Winograd's algorithm can compute are given to it.
	worthWinograd func(direct, tiles, depth, width, pair int) bool

	scratch []scratch // one for each worker
	packed  []float32 // the filter in panels, shared by the workers
	phases  []float32 // data gradients of strided convolutions, a phase after the other
	windows []float32 // transformed for Winograd's algorithm, a block of them at a time
	partial []float32 // gradients of filter or bias, one for each part of the sum

	// The operation in progress, and its tasks: stored once, so that starting them allocates nothing.
	corr    correlation
	filter  filterSum
	bias    biasSum
	strided stridedGradient
	wino    winograd
	winoSum winogradSum

	crossFilter crossFilter
	tasks       struct {
		pack, correlate, images, scatter, filter, filterJoin, cross, crossJoin, bias, interleave func(worker, block int)
		winogradFilter, winogradInput, winogradRun, winogradGroup                                func(worker, block int)
		sumInput, sumProduct, sumOutput                                                          func(worker, block int)
	}
}

// scratch is the memory of one worker.
type scratch struct {
	slab    []float32 // padded copy of a block of the input
	offsets []int     // start of the window of each cell of a block
	panel   []float32 // packed by the worker for itself
	edge    []float32 // a tile that does not fit its destination
	columns []float32 // a strip of the left operand that is cut off
	tile    simd.Tile
	sum     simd.Sum
	batch   simd.Batch
	output  simd.WinogradOutput
	cross   simd.Cross
}

var _ Ops = (*CPU)(nil)

// NewCPU makes the operations for a device. level comes from simd.Detect or simd.Select. exact computes sums
// of the products themselves, without Winograd's algorithm.
func NewCPU(dev *tensor.CPU, level simd.Level, exact bool) *CPU {
	c := &CPU{workers: dev.Workers, level: level, worthWinograd: worthWinograd, scratch: make([]scratch,
		dev.Workers.Threads())}
	if exact {
		c.worthWinograd = never
	}
	c.tasks.pack = c.packBlock
	c.tasks.correlate = c.correlateBlock
	c.tasks.images = c.imagesBlock
	c.tasks.scatter = c.scatterBlock
	c.tasks.filter = c.filterBlock
	c.tasks.filterJoin = c.joinFilterBlock
	c.tasks.cross, c.tasks.crossJoin = c.crossBlock, c.crossJoinBlock
	c.tasks.bias = c.biasBlock
	c.tasks.interleave = c.interleaveBlock
	c.tasks.winogradFilter = c.winogradFilterBlock
	c.tasks.winogradInput = c.winogradInputBlock
	c.tasks.winogradRun = c.winogradRunBlock
	c.tasks.winogradGroup = c.winogradGroupBlock
	c.tasks.sumInput = c.sumInputBlock
	c.tasks.sumProduct = c.sumProductBlock
	c.tasks.sumOutput = c.sumOutputBlock
	return c
}

// need is the scratch memory that each worker must have for an operation, in elements.
type need struct{ slab, offsets, panel, edge, columns int }

// reserve grows the scratch memory of all workers before they start, because any of them may take any block.
func (c *CPU) reserve(n need) {
	for i := range c.scratch {
		s := &c.scratch[i]
		s.slab, s.panel = tensor.Grow(s.slab, n.slab), tensor.Grow(s.panel, n.panel)
		s.offsets = tensor.Grow(s.offsets, n.offsets)
		s.edge, s.columns = tensor.Grow(s.edge, n.edge), tensor.Grow(s.columns, n.columns)
	}
}

func (c *CPU) Conv(y, x, w, b *tensor.Tensor, p Params) error {
	return c.convolve("conv", y, x, w, b, nil, p)
}

// ConvAdd implements Ops: sums begin with the shortcut.
func (c *CPU) ConvAdd(y, x, w, b, shortcut *tensor.Tensor, p Params) error {
	const operation = "conv and shortcut"
	if err := cmp.Or(fitShortcut(operation, shortcut, y), tensor.OnHost(operation, tensor.Float32, shortcut)); err != nil {
		return err
	}
	return c.convolve(operation, y, x, w, b, shortcut.Float32s(), p)
}

func (c *CPU) convolve(operation string, y, x, w, b *tensor.Tensor, shortcut []float32, p Params) error {
	g, err := Fit(operation, x, w, y, p)
	if err := cmp.Or(err, tensor.OnHost(operation, tensor.Float32, y, x, w, b)); err != nil {
		return err
	}
	if b != nil && (b.Rank() != 1 || b.Len() != g.K) {
		return tensor.Misfit(operation, "bias %s for %d output channels", b, g.K)
	}
	c.corr = g.flat().forward()
	c.corr.in, c.corr.out, c.corr.filter = x.Float32s(), y.Float32s(), w.Float32s()
	c.corr.bias, c.corr.relu, c.corr.shortcut = b.Float32s(), p.ReLU, shortcut
	c.correlate()
	return nil
}

// forward is the shape of the correlation that Conv computes.
func (g Geometry) forward() correlation {
	return correlation{
		n: g.N, h: g.H, w: g.W, depth: g.C, r: g.R, s: g.S, padH: g.Pad, padW: g.Pad,
		p: g.P, q: g.Q, width: g.K, step: max(1, g.Stride),
	}
}

// ConvGradData implements Ops: the correlation of dy, padded to give the shape of x, with the filter
// turned by 180 degrees and its channels exchanged.
func (c *CPU) ConvGradData(dx, dy, w, mask *tensor.Tensor, p Params) error {
	g, err := Fit("conv data gradient", dx, w, dy, p)
	if err := cmp.Or(err, tensor.OnHost("conv data gradient", tensor.Float32, dx, dy, w, mask)); err != nil {
		return err
	}
	if mask != nil && !tensor.SameShape(mask, dx) {
		return fmt.Errorf("conv data gradient: mask %s for gradient %s: %w", mask, dx, tensor.ErrShape)
	}
	g = g.flat()
	if g.Stride > 1 {
		c.gradDataStrided(g, dx.Float32s(), dy.Float32s(), w.Float32s(), mask.Float32s(), p.Accumulate)
		return nil
	}
	c.corr = g.dataGradient()
	c.corr.in, c.corr.out, c.corr.filter = dy.Float32s(), dx.Float32s(), w.Float32s()
	c.corr.mask, c.corr.load = mask.Float32s(), p.Accumulate
	c.correlate()
	return nil
}

// dataGradient is the shape of the correlation that ConvGradData computes.
func (g Geometry) dataGradient() correlation {
	return correlation{
		n: g.N, h: g.P, w: g.Q, depth: g.K, r: g.R, s: g.S, padH: g.R - 1 - g.Pad, padW: g.S - 1 - g.Pad,
		p: g.H, q: g.W, width: g.C, step: 1, turned: true,
	}
}

// flat gives a convolution whose windows do not overlap in anything as one over 1×1 maps: a filter
// that covers the input makes each picture a cell, a 1×1 filter makes each cell a picture.
func (g Geometry) flat() Geometry {
	g.Stride = max(1, g.Stride)
	switch {
	case g.R == 1 && g.S == 1 && g.Stride == 1:
		g.N *= g.H * g.W
	case g.R == g.H && g.S == g.W && g.Pad == 0:
		g.C *= g.H * g.W
	default:
		return g
	}
	g.H, g.W, g.R, g.S, g.P, g.Q, g.Stride = 1, 1, 1, 1, 1, 1, 1
	return g
}
