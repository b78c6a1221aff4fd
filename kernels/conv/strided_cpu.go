package conv

import "nmn/kernels/tensor"

// tapGrid selects the taps of a turned filter for a correlation. The zero value selects all of them.
type tapGrid struct {
	rows, columns     int // of the whole filter
	lastRow, lastLeft int // of the tap that comes first, being turned
	step              int // between taps
}

// some reports whether the taps are not simply all.
func (t tapGrid) some() bool { return t.step > 0 }

// of is the grid of a correlation, written out.
func (t tapGrid) of(k *correlation) tapGrid {
	if t.some() {
		return t
	}
	return tapGrid{rows: k.r, columns: k.s, lastRow: k.r - 1, lastLeft: k.s - 1, step: 1}
}

// at is the place in the whole filter of a row and column of the turned one.
func (t tapGrid) at(row, column int) int {
	return (t.lastRow-row*t.step)*t.columns + t.lastLeft - column*t.step
}

// stridedGradient is the data gradient of a strided convolution in progress. The pixels of dx fall into
// Stride × Stride phases by the remainders of their row and column. The windows that meet the pixels of one
// phase use the same taps, at every Stride-th row and column of the filter. So each phase is a correlation of
// dy with these taps, without zeros between. The phases are computed one after the other and then
// interleaved.
type stridedGradient struct {
	g          Geometry
	dx, mask   []float32
	accumulate bool
}

// side describes a phase in one direction: pixels, taps, the first tap in the filter, and the padding of dy.
type side struct{ pixels, taps, first, pad int }

// phaseSide is the phase of a remainder: size pixels of dx, a filter of some taps.
func phaseSide(remainder, size, filter, pad, stride int) side {
	first := (remainder + pad) % stride
	s := side{pixels: tensor.Ceil(max(0, size-remainder), stride), first: first}
	s.taps = tensor.Ceil(max(0, filter-first), stride)
	s.pad = s.taps - 1 - (remainder+pad-first)/stride
	return s
}

// last is the last tap of the phase.
func (s side) last(stride int) int { return s.first + (s.taps-1)*stride }

// phase is the correlation that computes a phase, without its operands. Its r·s is 0 if no tap meets it.
func (g Geometry) phase(row, column int) correlation {
	down := phaseSide(row, g.H, g.R, g.Pad, g.Stride)
	across := phaseSide(column, g.W, g.S, g.Pad, g.Stride)
	k := correlation{
		n: g.N, h: g.P, w: g.Q, depth: g.K, r: down.taps, s: across.taps, padH: down.pad, padW: across.pad,
		p: down.pixels, q: across.pixels, width: g.C, step: 1, turned: true,
		taps: tapGrid{rows: g.R, columns: g.S, lastRow: down.last(g.Stride), lastLeft: across.last(g.Stride), step: g.Stride},
	}
	if k.r == 1 && k.s == 1 && !k.padded() && k.p == k.h && k.q == k.w { // each cell is a picture
		k.n, k.h, k.w, k.p, k.q = k.n*k.h*k.w, 1, 1, 1, 1
	}
	return k
}

// phaseStart is the start of a phase in the memory of all phases.
func (g Geometry) phaseStart(row, column int) int {
	above := 0
	for r := range row {
		above += tensor.Ceil(max(0, g.H-r), g.Stride)
	}
	left := 0
	for r := range column {
		left += tensor.Ceil(max(0, g.W-r), g.Stride)
	}
	return g.N * g.C * (above*g.W + left*tensor.Ceil(max(0, g.H-row), g.Stride))
}

// gradDataStrided computes the data gradient of a convolution with a stride above 1.
func (c *CPU) gradDataStrided(g Geometry, dx, dy, w, mask []float32, accumulate bool) {
	if len(dx) == 0 {
		return
	}
	c.phases = tensor.Grow(c.phases, len(dx))
	for row := range min(g.Stride, g.H) {
		for column := range min(g.Stride, g.W) {
			k := g.phase(row, column)
			if k.r*k.s == 0 {
				continue
			}
			c.corr = k
			c.corr.in, c.corr.filter = dy, w
			c.corr.out = c.phases[g.phaseStart(row, column):][:k.n*k.p*k.q*k.width]
			c.correlate()
		}
	}
	c.strided = stridedGradient{g: g, dx: dx, mask: mask, accumulate: accumulate}
	c.workers.Run(g.N*g.H, c.tasks.interleave)
	c.strided = stridedGradient{}
}

// interleaveBlock writes a row of dx.
func (c *CPU) interleaveBlock(_, index int) {
	t := &c.strided
	g := &t.g
	image, h := index/g.H, index%g.H
	row := h % g.Stride
	for column := range min(g.Stride, g.W) {
		down := phaseSide(row, g.H, g.R, g.Pad, g.Stride)
		across := phaseSide(column, g.W, g.S, g.Pad, g.Stride)
		from := c.phases[g.phaseStart(row, column)+(image*down.pixels+h/g.Stride)*across.pixels*g.C:]
		met := down.taps*across.taps > 0
		to := (index*g.W + column) * g.C
		if met && t.mask == nil && !t.accumulate {
			c.level.CopyRows(t.dx[to:], g.Stride*g.C, from, g.C, across.pixels, g.C)
			continue
		}
		for i := range across.pixels {
			at := to + i*g.Stride*g.C
			var sums []float32
			if met {
				sums = from[i*g.C:][:g.C]
			}
			c.endPixel(t, at, sums)
		}
	}
}

// endPixel writes a pixel of dx from its sums. Sums that are 0 are nil.
func (c *CPU) endPixel(t *stridedGradient, at int, sums []float32) {
	dst := t.dx[at : at+t.g.C]
	switch {
	case sums == nil && !t.accumulate:
		clear(dst)
		return
	case sums == nil:
		sums = dst
	case t.accumulate:
		c.level.Add(sums, dst)
	}
	if t.mask == nil {
		copy(dst, sums)
		return
	}
	c.level.ReLUGrad(dst, sums, t.mask[at:at+t.g.C])
}
