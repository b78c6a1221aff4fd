package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// winogradFilterBlock transforms some input channels of one panel of the shared filters.
func (c *CPU) winogradFilterBlock(worker, index int) {
	w, blocks := &c.wino, tensor.Ceil(c.corr.depth, filterChannels)
	panel := index / blocks
	c.transformFilters(&c.scratch[worker], c.packed[panel*points*w.filterStride:], panel*w.wide,
		index%blocks*filterChannels)
}

// transformFilters writes dst[point][channel+c][j], of the filters from input and output channels to
// column+j.
func (c *CPU) transformFilters(s *scratch, dst []float32, column, channel int) {
	k, w := &c.corr, &c.wino
	channels := min(filterChannels, k.depth-channel)
	tap := channels * w.wide
	s.columns = tensor.Grow(s.columns, k.r*k.s*tap)
	for i := range k.r * k.s {
		k.packTap(c.level, s.columns[i*tap:], i, channel, channels, column, w.wide)
	}
	c.level.WinogradFilter(
		simd.Matrix{Data: dst[channel*w.wide:], Row: windowSide * w.filterStride, Column: w.filterStride},
		simd.Matrix{Data: s.columns, Row: k.s * tap, Column: tap}, tap)
}

// packTap writes dst[c·width + j] = F[r, s, channel+c, column+j] for one tap.
func (k *correlation) packTap(level simd.Level, dst []float32, tap, channel, channels, column, width int) {
	if k.turned {
		taps := k.r * k.s
		from := (channel*taps+taps-1-tap)*k.width + column
		level.CopyRows(dst, width, k.filter[from:], taps*k.width, channels, width)
		return
	}
	level.Transpose(dst, width, k.filter[column*k.reduction()+tap*k.depth+channel:], k.reduction(), width, channels)
}

// winogradInputBlock transforms the windows of a few tiles of the block.
func (c *CPU) winogradInputBlock(worker, index int) {
	w := &c.wino
	from := index * inputRun
	c.transformWindows(&c.scratch[worker], c.windows[from*c.corr.depth:], w.first+from, min(inputRun, w.tiles-from))
}

// transformWindows writes dst[point][tile][c] of some tiles from one on.
func (c *CPU) transformWindows(s *scratch, dst []float32, from, tiles int) {
	k, w := &c.corr, &c.wino
	for tile := range tiles {
		image, p, q := w.grid.at(from + tile)
		window := windowOf(c.level, s, k.in[image*k.h*k.w*k.depth:], k.h, k.w, k.depth, p-k.padH, q-k.padW, windowSide)
		transformed := simd.Matrix{Data: dst[tile*k.depth:], Row: windowSide * w.windowStride, Column: w.windowStride}
		c.level.WinogradInput(transformed, window, k.depth)
	}
}

// windowOf is the window of side×side pixels of an h×w image that begins at a pixel. It is in place if it
// lies inside the image, else a copy with zeros.
func windowOf(l simd.Level, s *scratch, image []float32, h, w, depth, top, left, side int) simd.Matrix {
	if top >= 0 && left >= 0 && top+side <= h && left+side <= w {
		return simd.Matrix{Data: image[(top*w+left)*depth:], Row: w * depth, Column: depth}
	}
	s.slab = tensor.Grow(s.slab, side*side*depth)
	clear(s.slab)
	y0, x0 := max(0, -top), max(0, -left)
	y1, x1 := min(side, h-top), min(side, w-left)
	if y0 < y1 && x0 < x1 {
		l.CopyRows(s.slab[(y0*side+x0)*depth:], side*depth, image[((top+y0)*w+left+x0)*depth:], w*depth, y1-y0, (x1-x0)*depth)
	}
	return simd.Matrix{Data: s.slab, Row: side * depth, Column: depth}
}

// winogradRunBlock computes a run of tiles for all output channels, with windows that it transforms for
// itself.
func (c *CPU) winogradRunBlock(worker, run int) {
	k, w, s := &c.corr, &c.wino, &c.scratch[worker]
	from := run * w.run
	s.panel = tensor.Grow(s.panel, points*w.windowStride)
	c.transformWindows(s, s.panel, from, min(w.run, w.tiles-from))
	for column := 0; column < k.width; column += w.group {
		c.multiplyRun(s, s.panel, c.packed[column/w.wide*points*w.filterStride:], from, column)
	}
}

// winogradGroupBlock computes all tiles of the block for a group of output channels, whose filters it
// transforms for itself.
func (c *CPU) winogradGroupBlock(worker, group int) {
	k, w, s := &c.corr, &c.wino, &c.scratch[worker]
	column := group * w.group
	panels := (min(column+w.group, k.width) - column) / w.wide
	s.panel = tensor.Grow(s.panel, w.group/w.wide*points*w.filterStride)
	for panel := range panels {
		for channel := 0; channel < k.depth; channel += filterChannels {
			c.transformFilters(s, s.panel[panel*points*w.filterStride:], column+panel*w.wide, channel)
		}
	}
	for run := 0; run < w.tiles; run += w.run {
		c.multiplyRun(s, c.windows[run*k.depth:], s.panel, run, column)
	}
}

// multiplyRun computes the tiles of the block from a first one on, for the group of output channels from
// column on. windows belong to the tiles, filters to the group.
func (c *CPU) multiplyRun(s *scratch, windows, filters []float32, from, column int) {
	k, w := &c.corr, &c.wino
	tiles, channels := min(w.run, w.tiles-from), min(w.group, k.width-column)
	s.edge = tensor.Grow(s.edge, points*w.productStride)
	s.batch = simd.Batch{
		A: windows, APoint: w.windowStride, PanelPoint: w.filterStride, DstPoint: w.productStride, DstStride: w.group,
		Points: points, Rows: tensor.CeilTo(tiles, w.rows), Depth: k.depth,
	}
	for j := 0; j < channels; j += w.wide {
		s.batch.Panel, s.batch.Dst = filters[j/w.wide*points*w.filterStride:], s.edge[j:]
		w.level.MultiplyBatch(&s.batch)
	}
	s.batch = simd.Batch{}
	for tile := range tiles {
		c.winogradOutput(k, w, s, from+tile, s.edge[tile*w.group:], column, channels)
	}
	s.output = simd.WinogradOutput{}
}

// winogradOutput transforms the products of one tile of the block to outputs.
func (c *CPU) winogradOutput(k *correlation, w *winograd, s *scratch, tile int, products []float32, column,
	channels int) {
	image, p, q := w.grid.at(w.first + tile)
	at := ((image*k.p+p)*k.q+q)*k.width + column
	o := &s.output
	*o = simd.WinogradOutput{
		Dst:  simd.Matrix{Data: k.out[at:], Row: k.q * k.width, Column: k.width},
		Src:  simd.Matrix{Data: products, Row: windowSide * w.productStride, Column: w.productStride},
		Rows: min(tileSide, k.p-p), Columns: min(tileSide, k.q-q), Channels: channels,
		ReLU: k.relu, Load: k.load,
	}
	if k.bias != nil {
		o.Bias = k.bias[column:]
	}
	if k.mask != nil {
		o.Mask = k.mask[at:]
	}
	if k.shortcut != nil {
		c.winogradAdd(k, o, at)
		return
	}
	if k.turned {
		c.level.WinogradDataGradient(o)
	} else {
		c.level.WinogradOutput(o)
	}
}

// winogradAdd is the output of a tile that is added to a shortcut, followed by bias and ReLU.
func (c *CPU) winogradAdd(k *correlation, o *simd.WinogradOutput, at int) {
	bias, relu := o.Bias, o.ReLU
	o.Bias, o.ReLU, o.Load = nil, false, true
	for row := range o.Rows {
		c.begin(k, at+row*o.Dst.Row, k.width, o.Columns, o.Channels)
	}
	c.level.WinogradDataGradient(o)
	for row := range o.Rows {
		for column := range o.Columns {
			pixel := o.Dst.Data[row*o.Dst.Row+column*o.Dst.Column:][:o.Channels]
			if bias != nil {
				c.level.Add(pixel, bias[:o.Channels])
			}
			if relu {
				c.level.ReLU(pixel, pixel)
			}
		}
	}
}
