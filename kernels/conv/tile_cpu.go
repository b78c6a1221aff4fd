package conv

import "nmn/kernels/tensor"

// begin copies the shortcut of some pixels to the output, to which Winograd's sums are then added. Tiles read
// it in place.
func (c *CPU) begin(k *correlation, at, stride, rows, width int) {
	if k.shortcut != nil && &k.shortcut[0] != &k.out[0] {
		c.level.CopyRows(k.out[at:], stride, k.shortcut[at:], stride, rows, width)
	}
}

// multiply runs the tile of a worker, whose operands are set, for the channels from column on. Row i goes
// to out[at + i·stride]. The first call for an output adds the shortcut, the last one the bias, clamps and masks.
func (c *CPU) multiply(k *correlation, s *scratch, at, stride, column, width int, first, last bool) {
	t := &s.tile
	t.From = nil
	if first && k.shortcut != nil {
		t.From = k.shortcut[at:]
	}
	if column+width > k.width {
		c.multiplyEdge(k, s, at, stride, column, width, last)
		return
	}
	t.Dst, t.DstStride = k.out[at:], stride
	t.ReLU = last && k.relu
	if last && k.bias != nil {
		t.Bias = k.bias[column:]
	}
	if last && k.mask != nil {
		t.Mask = k.mask[at:]
	}
	k.plan.level.Multiply(t, width)
}

// multiplyEdge is multiply for a last panel that is wider than the channels left: the tile is computed
// aside and finished by the rules of simd.Tile.
func (c *CPU) multiplyEdge(k *correlation, s *scratch, at, stride, column, width int, last bool) {
	t := &s.tile
	s.edge = tensor.Grow(s.edge, k.plan.rows*width)
	t.Dst, t.DstStride, t.Next = s.edge, width, 0
	if t.Load {
		from := k.out[at:]
		if t.From != nil {
			from = t.From
		}
		c.level.CopyRows(s.edge, width, from, stride, t.Rows, k.width-column)
	}
	t.From = nil
	k.plan.level.Multiply(t, width)
	for i := range t.Rows {
		k.finish(s.edge[i*width:], at+i*stride, column, last)
	}
}

// finish stores the remaining part of one row of a cut-off tile.
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
