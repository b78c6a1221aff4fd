package recurrent

import (
	"cmp"

	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// layer is an LSTM in progress. Hidden units are cut into blocks of a tile's width. A task has all four gates
// of its units, adds to them the products of all sequences with the recurrent weights, and finishes the
// units. So a step needs one meeting of the workers. The weights are packed into panels once and read by
// every step.
type layer struct {
	Layer
	h, c, gates, wh []float32
	h0, c0          []float32 // nil for 0
	dh, dh0         []float32
	carried         []float32 // gradients of the cells, on their way back
	zero            []float32 // a row of zeros
	t               int
}

func (c *CPU) LSTM(h, cell, gates, wh, h0, c0 *tensor.Tensor) error {
	shape, err := FitLSTM(h, cell, gates, wh, h0, c0)
	if err := cmp.Or(err, tensor.OnHost("lstm", tensor.Float32, h, cell, gates, wh, h0, c0)); err != nil {
		return err
	}
	l := &c.layer
	zero := tensor.Grow(l.zero, shape.H)
	clear(zero)
	*l = layer{
		Layer: shape, h: h.Float32s(), c: cell.Float32s(), gates: gates.Float32s(), wh: wh.Float32s(), h0: h0.Float32s(),
		c0:      c0.Float32s(),
		carried: l.carried, zero: zero,
	}
	blocks := tensor.Ceil(l.H, c.width)
	if l.T > 1 || l.h0 != nil {
		c.packed = tensor.Grow(c.packed, 4*blocks*c.width*l.H)
		c.workers.Run(4*blocks, c.tasks.packForward)
	}
	c.offsets = c.rowOffsets(c.offsets, l.N, l.H)
	c.reserveSums(l.N)
	for l.t = range l.T {
		c.workers.Run(blocks, c.tasks.forward)
	}
	c.forget()
	return nil
}

// reserveSums gives every worker memory for a block of sums of n rows.
func (c *CPU) reserveSums(n int) {
	for i := range c.scratch {
		c.scratch[i].sums = tensor.Grow(c.scratch[i].sums, n*c.width)
	}
}

// forget does not keep the caller's memory alive.
func (c *CPU) forget() {
	c.layer = layer{carried: c.layer.carried, zero: c.layer.zero}
	for i := range c.scratch {
		s := &c.scratch[i]
		s.tile, s.gates, s.grad = simd.Tile{}, simd.Gates{}, simd.GatesGrad{}
	}
}

// packForwardBlock packs a gate of a block of units: panel[e·width + j] = wh[unit j][e].
func (c *CPU) packForwardBlock(_, index int) {
	l := &c.layer
	unit, gate := index/4*c.width, index%4
	c.level.PackRows(c.packed[index*c.width*l.H:], c.width, l.wh[(gate*l.H+unit)*l.H:], l.H, min(c.width, l.H-unit), l.H)
}

// before returns the values of an array of steps one step earlier, or its first state; nil for 0.
func (l *layer) before(steps, first []float32) []float32 {
	if l.t == 0 {
		return first
	}
	return steps[(l.t-1)*l.N*l.H:][:l.N*l.H]
}

// forwardBlock computes a step for a block of units.
func (c *CPU) forwardBlock(worker, block int) {
	l, s := &c.layer, &c.scratch[worker]
	unit := block * c.width
	valid := min(c.width, l.H-unit)
	first := l.t * l.N // row of h, c and gates
	if before := l.before(l.h, l.h0); before != nil {
		for gate := range 4 {
			s.tile = simd.Tile{A: before, Taps: 1, Depth: l.H, Panel: c.packed[(block*4+gate)*c.width*l.H:][:c.width*l.H]}
			c.addProducts(s, l.gates[first*4*l.H+gate*l.H+unit:], 4*l.H, l.N, valid)
		}
	}
	cellBefore := l.before(l.c, l.c0)
	for n := range l.N {
		a := l.gates[(first+n)*4*l.H+unit:]
		at := (first+n)*l.H + unit
		g := &s.gates
		*g = simd.Gates{I: a, F: a[l.H:], G: a[2*l.H:], O: a[3*l.H:], Before: l.zero, C: l.c[at:], H: l.h[at:]}
		if cellBefore != nil {
			g.Before = cellBefore[n*l.H+unit:]
		}
		c.level.LSTMGates(g, valid)
	}
}

// addProducts adds n rows of products, whose factors a worker's tile holds, to valid columns of dst.
func (c *CPU) addProducts(s *scratch, dst []float32, stride, n, valid int) {
	t := &s.tile
	for row := 0; row < n; row += c.rows {
		t.Offsets, t.Rows = c.offsets[row:], min(c.rows, n-row)
		if valid == c.width {
			t.Dst, t.DstStride, t.Load = dst[row*stride:], stride, true
			c.level.Multiply(t, c.width)
			continue
		}
		t.Dst, t.DstStride = s.sums, c.width
		c.level.Multiply(t, c.width)
		for i := range t.Rows {
			c.level.Add(dst[(row+i)*stride:][:valid], s.sums[i*c.width:])
		}
	}
}

func (c *CPU) LSTMGrad(gates, dh, cell, wh, c0, dcLast, dh0, dc0 *tensor.Tensor) error {
	shape, err := FitLSTMGrad(gates, dh, cell, wh, c0, dcLast, dh0, dc0)
	if err := cmp.Or(err,
		tensor.OnHost("lstm gradient", tensor.Float32, gates, dh, cell, wh, c0, dcLast, dh0, dc0)); err != nil {
		return err
	}
	l := &c.layer
	zero, carried := tensor.Grow(l.zero, shape.H), tensor.Grow(l.carried, shape.N*shape.H)
	clear(zero)
	clear(carried)
	copy(carried, dcLast.Float32s())
	*l = layer{
		Layer: shape, c: cell.Float32s(), gates: gates.Float32s(), wh: wh.Float32s(), c0: c0.Float32s(),
		dh: dh.Float32s(), dh0: dh0.Float32s(), carried: carried, zero: zero,
	}
	blocks := tensor.Ceil(l.H, c.width)
	if l.T > 1 || l.dh0 != nil {
		c.packed = tensor.Grow(c.packed, 4*l.H*blocks*c.width)
		c.workers.Run(blocks, c.tasks.packBackward)
	}
	c.offsets = c.rowOffsets(c.offsets, l.N, 4*l.H)
	c.reserveSums(l.N)
	for l.t = l.T - 1; l.t >= 0; l.t-- {
		c.workers.Run(blocks, c.tasks.backward)
	}
	if l.dh0 != nil {
		c.workers.Run(blocks, c.tasks.carry)
	}
	copy(dc0.Float32s(), carried)
	c.forget()
	return nil
}

// packBackwardBlock packs a block of columns: panel[k·width + j] = wh[k][unit j].
func (c *CPU) packBackwardBlock(_, block int) {
	l := &c.layer
	unit := block * c.width
	c.level.PackColumns(c.packed[unit*4*l.H:], c.width, l.wh[unit:], l.H, 4*l.H, min(c.width, l.H-unit))
}

// carriedBack computes the gradients that h of a block of units gets from the step after t, in the worker's
// sums.
func (c *CPU) carriedBack(s *scratch, block, t int) {
	l := &c.layer
	s.tile = simd.Tile{A: l.gates[t*l.N*4*l.H:], Taps: 1, Depth: 4 * l.H,
		Panel: c.packed[block*4*l.H*c.width:][:4*l.H*c.width], DstStride: c.width}
	c.level.MultiplyRows(&s.tile, c.width, l.N, c.offsets, s.sums)
}

// backwardBlock goes back a step for a block of units.
func (c *CPU) backwardBlock(worker, block int) {
	l, s := &c.layer, &c.scratch[worker]
	unit := block * c.width
	valid := min(c.width, l.H-unit)
	if l.t < l.T-1 {
		c.carriedBack(s, block, l.t+1)
	} else {
		clear(s.sums)
	}
	cellBefore := l.before(l.c, l.c0)
	for n := range l.N {
		row := l.t*l.N + n
		a, at := l.gates[row*4*l.H+unit:], row*l.H+unit
		g := &s.grad
		*g = simd.GatesGrad{
			I: a, F: a[l.H:], G: a[2*l.H:], O: a[3*l.H:], Before: l.zero, C: l.c[at:],
			DH: l.dh[at:], DC: l.carried[n*l.H+unit:], Carried: s.sums[n*c.width:],
		}
		if cellBefore != nil {
			g.Before = cellBefore[n*l.H+unit:]
		}
		c.level.LSTMGatesGrad(g, valid)
	}
}

// carryBlock is the gradient of the first h for a block of units.
func (c *CPU) carryBlock(worker, block int) {
	l, s := &c.layer, &c.scratch[worker]
	unit := block * c.width
	c.carriedBack(s, block, 0)
	c.level.CopyRows(l.dh0[unit:], l.H, s.sums, c.width, l.N, min(c.width, l.H-unit))
}
