package transformer

import (
	"cmp"
	"math"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// attention is an attention in progress. A task is a head of a picture, or a run of its queries. It copies
// the keys and values of the head, which lie 3D apart, and takes blocks of queries through blocks of keys.
// Logits are stored key by key with queries next to each other. The largest logit and the sum of a query are
// found in a lane of a vector, never across one. The exponentials are the left operand of an outer product
// with the values in place.
type attention struct {
	Heads
	qkv, out []float32
	scale    float32

	rows, wide, narrow int // tile shape
	crossRows          int // divides the rows of an outer product
	valueWidth         int // of a head's values, rounded up to the width of outer products
	parts, perPart     int // runs of queries, and queries in each
	keyBlocks, keys    int // blocks of keys, and keys in each
}

// Sizes of blocks: queries, keys, and queries that share a copy of keys and values.
const (
	queryBlock = 64
	keyTarget  = 320
	partTarget = 512
)

func (c *CPU) Attention(y, qkv *tensor.Tensor, heads int) error {
	shape, err := FitAttention(y, qkv, heads)
	if err := cmp.Or(err, tensor.OnHost("attention", tensor.Float32, y, qkv)); err != nil {
		return err
	}
	if shape.N*shape.T == 0 {
		return nil
	}
	a := &c.attention
	*a = attention{Heads: shape, qkv: qkv.Float32s(), out: y.Float32s(),
		scale: float32(1 / math.Sqrt(float64(shape.Width)))}
	a.cut(c.level)
	for i := range c.scratch {
		s := &c.scratch[i]
		s.keys, s.values = tensor.Grow(s.keys, a.T*a.Width), tensor.Grow(s.values, a.T*a.valueWidth)
		s.queries, s.logits = tensor.Grow(s.queries, queryBlock*a.Width), tensor.Grow(s.logits, a.keys*queryBlock)
		s.sums, s.lanes = tensor.Grow(s.sums, queryBlock*a.valueWidth), tensor.Grow(s.lanes, 3*queryBlock)
		s.offsets = tensor.Grow(s.offsets, tensor.CeilTo(a.keys, a.rows))
	}
	c.workers.Run(a.N*a.Heads.Heads*a.parts, c.tasks.attend)
	*a = attention{}
	return nil
}

// cut chooses the blocks, by shapes alone.
func (a *attention) cut(level simd.Level) {
	a.rows, a.wide, a.narrow = level.TileShape()
	var width int
	a.crossRows, width = level.CrossShape()
	a.valueWidth = tensor.CeilTo(a.Width, width)
	a.parts = tensor.Ceil(a.T, partTarget)
	a.perPart = tensor.CeilTo(tensor.Ceil(a.T, a.parts), queryBlock)
	a.parts = tensor.Ceil(a.T, a.perPart)
	a.keyBlocks = tensor.Ceil(a.T, keyTarget)
	a.keys = min(a.T, tensor.CeilTo(tensor.Ceil(a.T, a.keyBlocks), a.rows))
	a.keyBlocks = tensor.Ceil(a.T, a.keys)
}

// attendBlock computes a run of queries of a head.
func (c *CPU) attendBlock(worker, block int) {
	a, s := &c.attention, &c.scratch[worker]
	part := block % a.parts
	picture, head := block/a.parts/a.Heads.Heads, block/a.parts%a.Heads.Heads
	stride := 3 * a.D()
	first := picture*a.T*stride + head*a.Width
	c.level.CopyRows(s.keys, a.Width, a.qkv[first+a.D():], stride, a.T, a.Width)
	c.level.PackColumns(s.values, a.valueWidth, a.qkv[first+2*a.D():], stride, a.T, a.Width)
	for query := part * a.perPart; query < min((part+1)*a.perPart, a.T); query += queryBlock {
		count := min(queryBlock, a.T-query, (part+1)*a.perPart-query)
		lanes := tensor.CeilTo(count, simd.SoftmaxLanes)
		c.packQueries(a, s, a.qkv[first+query*stride:], count, lanes)
		for i := range s.lanes {
			s.lanes[i] = float32(math.Inf(-1)) // the largest logits
		}
		clear(s.lanes[queryBlock : 2*queryBlock]) // the sums
		for key := 0; key < a.T; key += a.keys {
			c.attendKeys(a, s, key, min(a.keys, a.T-key), lanes)
		}
		for i := range count {
			y := a.out[(picture*a.T+query+i)*a.D()+head*a.Width:][:a.Width]
			c.level.ScaleTo(y, s.sums[i*a.valueWidth:], 1/s.lanes[queryBlock+i])
		}
	}
	s.tile, s.cross, s.softmax = simd.Tile{}, simd.Cross{}, simd.Softmax{}
}

// packQueries packs queries in panels for tiles, scaled. Lanes without a query are 0.
func (c *CPU) packQueries(a *attention, s *scratch, queries []float32, count, lanes int) {
	stride := 3 * a.D()
	for lane := 0; lane < lanes; lane += a.wide {
		width := min(a.wide, lanes-lane)
		panel, of := s.queries[lane*a.Width:][:width*a.Width], min(lane, count-1)*stride
		c.level.PackRows(panel, width, queries[of:], stride, max(0, min(width, count-lane)), a.Width)
		c.level.Scale(panel, a.scale)
	}
}

// attendKeys takes a block of queries through a block of keys.
func (c *CPU) attendKeys(a *attention, s *scratch, key, keys, lanes int) {
	t := &s.tile
	*t = simd.Tile{A: s.keys[key*a.Width : (key+keys)*a.Width], Taps: 1, Depth: a.Width, DstStride: lanes}
	for i := range s.offsets { // a last tile repeats the last key
		s.offsets[i] = min(i, keys-1) * a.Width
	}
	for lane := 0; lane < lanes; lane += a.wide {
		width := min(a.wide, lanes-lane)
		t.Panel = s.queries[lane*a.Width:][:width*a.Width]
		c.level.MultiplyRows(t, width, keys, s.offsets, s.logits[lane:])
	}
	top, sum, factor := s.lanes[:lanes], s.lanes[queryBlock:][:lanes], s.lanes[2*queryBlock:][:lanes]
	s.softmax = simd.Softmax{Block: s.logits, Stride: lanes, Rows: keys, Top: top, Sum: sum, Factor: factor}
	c.level.Softmax(&s.softmax)
	if key > 0 {
		for i, f := range factor {
			c.level.Scale(s.sums[i*a.valueWidth:][:a.valueWidth], f)
		}
	}
	_, width := c.level.CrossShape()
	for column := 0; column < a.valueWidth; column += width {
		s.cross = simd.Cross{A: s.logits, AStride: lanes, B: s.values[key*a.valueWidth+column:], BStride: a.valueWidth,
			Depth: keys,
			Dst:   s.sums[column:], DstStride: a.valueWidth, Rows: lanes, Load: key > 0}
		c.level.Cross(&s.cross)
	}
}
