package conv

import "nmn/kernels/simd"

func tileOf(a []float32) simd.Tile { return simd.Tile{A: a} }

// gather makes the input of a block addressable with constant strides: the input itself where there
// is no padding, else a copy with its zeros.
func (c *CPU) gather(k *correlation, s *scratch, b *block) {
	if !k.padded() {
		b.lineStride, b.imageStride = k.w*k.depth, k.h*k.w*k.depth
		b.base = k.in[b.image*b.imageStride+b.line*b.lineStride:]
		return
	}
	columns := k.q + k.s - 1
	b.lineStride = columns * k.depth
	height := b.lines + k.r - 1
	b.imageStride = height * b.lineStride
	s.slab = grow(s.slab, b.images*b.imageStride)
	b.base = s.slab
	left := min(k.padW, columns)
	inside := min(k.w, columns-left)
	for i := range b.images {
		for y := range height {
			row := s.slab[i*b.imageStride+y*b.lineStride:][:b.lineStride]
			from := b.line + y - k.padH
			if from < 0 || from >= k.h {
				clear(row)
				continue
			}
			clear(row[:left*k.depth])
			copy(row[left*k.depth:(left+inside)*k.depth], k.in[((b.image+i)*k.h+from)*k.w*k.depth:])
			clear(row[(left+inside)*k.depth:])
		}
	}
}

// windows writes the offsets of the windows of all cells; a last tile repeats the last cell.
func (k *correlation) windows(s *scratch, b *block) {
	tiles := ceilDiv(b.cells, k.plan.rows)
	s.offsets = grow(s.offsets, tiles*k.plan.rows)
	at := 0
	for i := range b.images {
		for p := range b.lines {
			offset := i*b.imageStride + p*b.lineStride
			for range k.q {
				s.offsets[at] = offset
				offset += k.depth
				at++
			}
		}
	}
	for ; at < len(s.offsets); at++ {
		s.offsets[at] = s.offsets[at-1]
	}
}

// multiplyPanel runs the tiles of one panel over the cells of a block.
func (c *CPU) multiplyPanel(k *correlation, s *scratch, b *block, column, width int, last bool) {
	t := &s.tile
	if column+width > k.width {
		c.multiplyEdge(k, s, b, column, width, last)
		return
	}
	if last && k.bias != nil {
		t.Bias = k.bias[column:]
	}
	t.DstStride = k.width
	for cell := 0; cell < b.cells; cell += k.plan.rows {
		at := (b.first+cell)*k.width + column
		t.Rows = min(k.plan.rows, b.cells-cell)
		t.Offsets = s.offsets[cell:]
		t.Dst = k.out[at:]
		if last && k.mask != nil {
			t.Mask = k.mask[at:]
		}
		c.level.Multiply(t, width)
	}
}

// multiplyEdge is multiplyPanel for a last panel that is wider than the channels left: the tile is
// computed aside and finished by the rules of simd.Tile.
func (c *CPU) multiplyEdge(k *correlation, s *scratch, b *block, column, width int, last bool) {
	t := &s.tile
	s.edge = grow(s.edge, k.plan.rows*width)
	t.Dst, t.DstStride, t.ReLU = s.edge, width, false
	for cell := 0; cell < b.cells; cell += k.plan.rows {
		t.Rows = min(k.plan.rows, b.cells-cell)
		t.Offsets = s.offsets[cell:]
		at := (b.first+cell)*k.width + column
		if t.Load {
			c.level.CopyRows(s.edge, width, k.out[at:], k.width, t.Rows, k.width-column)
		}
		c.level.Multiply(t, width)
		for i := range t.Rows {
			k.finish(s.edge[i*width:], at+i*k.width, column, last)
		}
	}
}

// finish stores what is left of one row of a cut-off tile.
func (k *correlation) finish(sums []float32, at, column int, last bool) {
	dst := k.out[at : at+k.width-column]
	for j := range dst {
		v := sums[j]
		if last && k.bias != nil {
			v += k.bias[column+j]
		}
		if last && k.relu && v < 0 {
			v = 0
		}
		if last && k.mask != nil && k.mask[at+j] <= 0 {
			v = 0
		}
		dst[j] = v
	}
}
