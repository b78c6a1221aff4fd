package conv

import "nmn/kernels/tensor"

// gather makes the input of a block addressable with constant strides: the input itself if there is no
// padding, else a copy with its zeros.
func (c *CPU) gather(k *correlation, s *scratch, b *block) {
	if !k.padded() {
		b.lineStride, b.imageStride = k.w*k.depth, k.h*k.w*k.depth
		b.base = k.in[b.image*b.imageStride+b.line*k.step*b.lineStride:]
		return
	}
	columns := k.columns()
	b.lineStride = columns * k.depth
	height := k.height(b.lines)
	b.imageStride = height * b.lineStride
	s.slab = tensor.Grow(s.slab, b.images*b.imageStride)
	b.base = s.slab
	left, skip := min(max(0, k.padW), columns), max(0, -k.padW)
	inside := max(0, min(k.w-skip, columns-left))
	for i := range b.images {
		for y := range height {
			row := s.slab[i*b.imageStride+y*b.lineStride:][:b.lineStride]
			from := b.line*k.step + y - k.padH
			if from < 0 || from >= k.h || inside == 0 {
				clear(row)
				continue
			}
			clear(row[:left*k.depth])
			copy(row[left*k.depth:(left+inside)*k.depth], k.in[(((b.image+i)*k.h+from)*k.w+skip)*k.depth:])
			clear(row[(left+inside)*k.depth:])
		}
	}
}

// windows writes the offsets of the windows of all cells. A last tile repeats the last cell.
func (k *correlation) windows(s *scratch, b *block) {
	tiles := tensor.Ceil(b.cells, k.plan.rows)
	s.offsets = tensor.Grow(s.offsets, tiles*k.plan.rows)
	at := 0
	for i := range b.images {
		for p := range b.lines {
			offset := i*b.imageStride + p*k.step*b.lineStride
			for range k.q {
				s.offsets[at] = offset
				offset += k.step * k.depth
				at++
			}
		}
	}
	for ; at < len(s.offsets); at++ {
		s.offsets[at] = s.offsets[at-1]
	}
}

// packBlock packs one panel of the shared filter.
func (c *CPU) packBlock(_, panel int) {
	k := &c.corr
	c.packPanel(k, c.packed[panel*k.plan.wide*k.reduction():], panel, 0, k.reduction())
}

// packPanel writes dst[e·width + j] = F[from+e, panel's first channel + j]. The reduction index runs over
// filter rows, columns and channels. Channels beyond the last are 0.
func (c *CPU) packPanel(k *correlation, dst []float32, panel, from, length int) {
	width := k.plan.panelWidth(panel, k.width)
	column := panel * k.plan.wide
	valid := min(width, k.width-column)
	if !k.turned {
		c.level.PackRows(dst, width, k.filter[column*k.reduction()+from:], k.reduction(), valid, length)
		return
	}
	taps := k.taps.of(k)
	for length > 0 {
		tap, channel := from/k.depth, from%k.depth
		rows := min(length, k.depth-channel)
		src := (channel*taps.rows*taps.columns+taps.at(tap/k.s, tap%k.s))*k.width + column
		c.level.PackColumns(dst, width, k.filter[src:], taps.rows*taps.columns*k.width, rows, valid)
		dst = dst[rows*width:]
		from, length = from+rows, length-rows
	}
}
