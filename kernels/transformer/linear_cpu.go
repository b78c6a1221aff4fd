package transformer

import (
	"cmp"
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// product is rows of sums of products, and the steps after each sum. The rows are a linear layer's, which are
// contiguous, or patches, whose rows are taps runs of depth numbers at a distance of tapStride.
//
// A product of bfloat16 has pairs of numbers (simd.Pairs) instead of single ones: its depth counts pairs, and its
// weights hold them. Rows of the input are rounded to pairs next to the tiles that read them.
type product struct {
	in                     []float32
	bfloat16               bool
	numbers                int      // of a row of the input
	odd                    []uint16 // weights of bfloat16 whose rows have an odd count of numbers, nil for others
	rows                   int
	taps, depth, tapStride int
	shape                  Patches // start of rows; the zero value for contiguous rows
	weights, out, bias     []float32
	prepared               bool // the weights are packed if their shape allows it
	width                  int  // numbers of a row of the output
	gelu                   GELUKind
	scale, residual        []float32
	packed                 []float32 // the weights in panels

	plan plan
}

// plan is how a product is cut. It depends on shapes alone.
type plan struct {
	level              simd.Level // whose tiles are used
	rows, wide, narrow int        // tile shape
	panels             int        // panels of columns
	perBlock           int        // rows in a block
	groups, perGroup   int        // groups of panels, and panels in each: a block is rows × group
	perPass            int        // panels of a group whose sums are in memory together
	chunk              int        // reduction steps in one call of the tile kernel at most
	direct             bool       // sums go straight to the output
	apart              int        // numbers between the rows of other sums, so that these do not share sets of a cache
}

// Sizes in floats of data that should stay in the second-level cache.
const (
	inputFloats  = 64 << 10 // rows of a block
	chunkSteps   = 768      // of the reduction
	mostRows     = 192      // in a block
	outputFloats = 64 << 10 // sums of a block that something follows
	blockTarget  = 32       // blocks of an operation at least, for the pool to share
)

func (c *CPU) Linear(y, x, w, b *tensor.Tensor, p LinearParams) error {
	l, err := FitLinear(y, x, w, b, p)
	if err != nil {
		return err
	}
	if err := cmp.Or(tensor.OnHost("linear", tensor.Float32, y, x, b, p.Scale, p.Residual),
		weightsOnHost("linear", w)); err != nil {
		return err
	}
	k := linearOf(l, w)
	k.in, k.rows, k.prepared, k.out = x.Float32s(), l.Rows, p.Prepared, y.Float32s()
	k.bias, k.gelu, k.scale, k.residual = b.Float32s(), p.GELU, p.Scale.Float32s(), p.Residual.Float32s()
	c.multiply(k)
	return nil
}

// linearOf is the product of a layer with its weights alone.
func linearOf(l Layer, w *tensor.Tensor) product {
	k := product{taps: 1, depth: l.C, numbers: l.C, weights: w.Float32s(), width: l.K}
	if halves := w.BFloat16s(); halves != nil {
		k.bfloat16, k.depth = true, tensor.Ceil(l.C, 2)
		if l.C%2 == 0 {
			k.weights = simd.Pairs(halves)
		} else {
			k.odd = halves
		}
	}
	return k
}

// PrepareLinear implements Ops: panels of weights replace their rows, if they fit in that memory.
func (c *CPU) PrepareLinear(w *tensor.Tensor) error {
	l, err := FitPrepareLinear(w)
	if err != nil {
		return err
	}
	if err := weightsOnHost("weights to prepare", w); err != nil {
		return err
	}
	k := linearOf(l, w)
	k.cut(c.level)
	if k.fillsPanels() {
		for i := range c.scratch {
			c.scratch[i].sums = tensor.Grow(c.scratch[i].sums, k.plan.wide*k.depth)
		}
		c.product = k
		c.workers.Run(k.plan.panels, c.tasks.prepare)
		c.product = product{}
	}
	return nil
}

// prepareBlock packs a panel in place.
func (c *CPU) prepareBlock(worker, panel int) {
	k := &c.product
	width, column := k.panelWidth(panel), panel*k.plan.wide
	rows := c.scratch[worker].sums[:width*k.depth]
	place := k.weights[column*k.depth:][:len(rows)]
	copy(rows, place)
	c.level.Transpose(place, width, rows, k.depth, width, k.depth)
}

// fillsPanels reports whether the weights fill all panels.
func (k *product) fillsPanels() bool { return k.width%k.plan.narrow == 0 && k.odd == nil }

func (c *CPU) PatchEmbed(y, x, w, b *tensor.Tensor) error {
	s, err := FitPatchEmbed(y, x, w, b)
	if err := cmp.Or(err, tensor.OnHost("patch embedding", tensor.Float32, y, x, w, b)); err != nil {
		return err
	}
	k := product{in: x.Float32s(), rows: s.N * s.Count(), taps: s.P, depth: s.P * s.C, tapStride: s.W * s.C, shape: s,
		weights: w.Float32s(),
		out:     y.Float32s(), bias: b.Float32s(), width: s.K}
	c.multiply(k)
	return nil
}

// reduction is the number of products in one output.
func (k *product) reduction() int { return k.taps * k.depth }

// offset is the start of a row in the input.
func (k *product) offset(row int) int {
	if k.shape.P == 0 {
		return row * k.depth
	}
	s := &k.shape
	across, count := s.W/s.P, s.Count()
	picture, patch := row/count, row%count
	return ((picture*s.H+patch/across*s.P)*s.W + patch%across*s.P) * s.C
}

func (c *CPU) multiply(k product) {
	if k.rows*k.width == 0 {
		return
	}
	k.cut(c.level)
	if k.packed = k.weights; !k.prepared || !k.fillsPanels() {
		c.packed = tensor.Grow(c.packed, k.plan.panels*k.plan.wide*k.reduction())
		k.packed = c.packed
		c.product = k
		c.workers.Run(k.plan.panels, c.tasks.pack)
	}
	c.product = k
	for i := range c.scratch {
		s := &c.scratch[i]
		s.offsets = tensor.Grow(s.offsets, k.plan.perBlock)
		if k.bfloat16 {
			s.pairs = tensor.Grow(s.pairs, k.plan.perBlock*k.plan.chunk)
		}
		if !k.plan.direct {
			s.sums = tensor.Grow(s.sums, k.plan.perBlock*(k.plan.perPass*k.plan.wide+k.plan.apart))
		}
	}
	c.workers.Run(tensor.Ceil(k.rows, k.plan.perBlock)*k.plan.groups, c.tasks.multiply)
	c.product = product{} // do not keep the caller's memory alive
}

// cut makes the plan.
func (k *product) cut(level simd.Level) {
	pl := &k.plan
	if pl.level = level; !k.bfloat16 {
		pl.level = level.TileLevel(k.width)
	}
	pl.rows, pl.wide, pl.narrow = pl.level.TileShape()
	pl.panels = tensor.Ceil(k.width, pl.wide)
	pl.chunk = k.reduction()
	if k.taps == 1 {
		pl.chunk = tensor.Ceil(k.depth, tensor.Ceil(k.depth, chunkSteps))
	}
	pl.perBlock = max(pl.rows, min(mostRows, inputFloats/max(1, pl.chunk), tensor.CeilTo(k.rows, pl.rows))/pl.rows*pl.rows)
	blocks := max(1, tensor.Ceil(k.rows, pl.perBlock))
	pl.perGroup = max(1, pl.panels/tensor.Ceil(blockTarget, blocks))
	pl.apart = 16
	pl.direct = k.gelu == None && k.scale == nil && k.residual == nil && k.width%pl.narrow == 0 &&
		pl.chunk == k.reduction()
	if pl.perPass = pl.perGroup; !pl.direct {
		pl.perPass = max(1, min(pl.perGroup, outputFloats/(pl.perBlock*pl.wide)))
	}
	pl.groups = tensor.Ceil(pl.panels, pl.perGroup)
}

// panelWidth is the width of a panel's tiles. It is narrow if that covers the remaining columns.
func (k *product) panelWidth(panel int) int {
	if k.width-panel*k.plan.wide <= k.plan.narrow {
		return k.plan.narrow
	}
	return k.plan.wide
}

// packBlock packs a panel of weights: panel[e·width + j] = w[column + j, e], 0 beyond the last column.
func (c *CPU) packBlock(worker, panel int) {
	k := &c.product
	reduction, width, column := k.reduction(), k.panelWidth(panel), panel*k.plan.wide
	dst := k.packed[column*reduction:][:width*reduction]
	valid := min(width, k.width-column)
	rows := k.weights
	if k.odd != nil {
		rows = c.completed(k, &c.scratch[worker], column, valid)
	} else {
		rows = rows[column*reduction:]
	}
	c.level.PackRows(dst, width, rows, reduction, valid, reduction)
}

// completed returns rows of weights as pairs. The last pair of each row has a 0.
func (c *CPU) completed(k *product, s *scratch, row, count int) []float32 {
	s.sums = tensor.Grow(s.sums, count*k.depth)
	for i := range count {
		halves, pairs := k.odd[(row+i)*k.numbers:][:k.numbers], s.sums[i*k.depth:][:k.depth]
		for e := range pairs {
			pair := uint32(halves[2*e])
			if 2*e+1 < len(halves) {
				pair |= uint32(halves[2*e+1]) << 16
			}
			pairs[e] = math.Float32frombits(pair)
		}
	}
	return s.sums
}

// multiplyBlock computes a block of rows × a group of panels.
func (c *CPU) multiplyBlock(worker, block int) {
	k, s := &c.product, &c.scratch[worker]
	pl := &k.plan
	lo := block / pl.groups * pl.perBlock
	rows := min(pl.perBlock, k.rows-lo)
	begin := block % pl.groups * pl.perGroup
	end := min(begin+pl.perGroup, pl.panels)
	base := k.offset(lo)
	if !k.bfloat16 {
		for i := range s.offsets[:tensor.CeilTo(rows, pl.rows)] { // a last tile repeats the last row
			s.offsets[i] = k.offset(lo+min(i, rows-1)) - base
		}
	}
	for first := begin; first < end; first += pl.perPass {
		last := min(first+pl.perPass, end)
		dst, stride := s.sums, (last-first)*pl.wide+pl.apart
		if pl.direct {
			dst, stride = k.out[lo*k.width+first*pl.wide:], k.width
		}
		for from := 0; from < k.reduction(); from += pl.chunk {
			steps := min(pl.chunk, k.reduction()-from)
			in := s.pairs
			if !k.bfloat16 {
				in = k.in[base+from:]
			} else if first == begin || steps < k.reduction() { // else the last pass left them
				c.roundRows(k, s, lo, rows, from, steps)
			}
			for panel := first; panel < last; panel++ {
				c.multiplyPanel(k, s, panel, in, from, steps, rows, dst[(panel-first)*pl.wide:], stride)
			}
		}
		c.finish(k, s, lo, rows, first*pl.wide, min(last*pl.wide, k.width), stride)
	}
	s.tile = simd.Tile{}
}

// roundRows writes steps of the rows of a block as pairs, row after row.
func (c *CPU) roundRows(k *product, s *scratch, first, rows, from, steps int) {
	for i := range rows {
		row := k.in[(first+i)*k.numbers:][:k.numbers]
		c.level.RoundBFloat16(s.pairs[i*steps:][:steps], row[2*from:min(2*(from+steps), len(row))])
	}
	for i := range s.offsets[:tensor.CeilTo(rows, k.plan.rows)] { // a last tile repeats the last row
		s.offsets[i] = min(i, rows-1) * steps
	}
}

// multiplyPanel adds steps of the reduction, from a step on, to the sums of the rows of a block and the columns of a
// panel. in begins with the first row's input of that step.
func (c *CPU) multiplyPanel(k *product, s *scratch, panel int, in []float32, from, steps, rows int, dst []float32,
	stride int) {
	width, column := k.panelWidth(panel), panel*k.plan.wide
	t := &s.tile
	*t = simd.Tile{
		A: in, Taps: k.taps, Depth: k.depth, TapStride: k.tapStride, DstStride: stride, Load: from > 0,
		Panel: k.packed[column*k.reduction()+from*width:][:steps*width],
	}
	if k.taps == 1 {
		t.Depth = steps
	}
	if from+steps == k.reduction() && k.bias != nil && column+width <= k.width {
		t.Bias = k.bias[column:]
	}
	for row := 0; row < rows; row += k.plan.rows {
		t.Rows, t.Offsets, t.Dst = min(k.plan.rows, rows-row), s.offsets[row:], dst[row*stride:]
		if k.bfloat16 {
			k.plan.level.MultiplyBFloat16(t, width)
		} else {
			k.plan.level.Multiply(t, width)
		}
	}
}

// finish does the steps after the sums of a block, columns lo to hi of rows from first on.
func (c *CPU) finish(k *product, s *scratch, first, rows, lo, hi, stride int) {
	if k.plan.direct {
		return
	}
	cut := hi // columns from here on have not got their biases
	if panel := (hi - 1) / k.plan.wide; k.bias != nil && panel*k.plan.wide+k.panelWidth(panel) > k.width {
		cut = panel * k.plan.wide
	}
	for row := range rows {
		sums := s.sums[row*stride:][:hi-lo]
		y := k.out[(first+row)*k.width+lo:][:hi-lo]
		if cut < hi {
			c.level.Add(sums[cut-lo:], k.bias[cut:hi])
		}
		residual := k.residual
		if k.gelu != None {
			activated := sums
			if residual == nil && k.scale == nil {
				activated = y
			}
			c.activate(activated, sums, k.gelu)
		}
		switch {
		case residual == nil && k.scale == nil:
			if k.gelu == None {
				copy(y, sums)
			}
		case residual == nil:
			copy(y, sums)
			c.level.ScaleRows(y, len(y), 1, k.scale[lo:hi])
		case k.scale == nil:
			c.level.Sum(y, residual[(first+row)*k.width+lo:], sums)
		default:
			c.level.AddProduct(y, residual[(first+row)*k.width+lo:], sums, k.scale[lo:])
		}
	}
}
