package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// The data gradient of a large filter without padding has more outputs than inputs: fc6 sends 12×12 cells to
// 18×18, and a correlation would multiply equally many zeros and numbers. Here every input cell is multiplied
// with each tap of the filter, and the products are added at the tap's output cell:
//
//	out[n, h+R-1-r, w+S-1-s, j] += in[n,h,w,c] · F[r,s,c,j]
//
// A block has all cells of an image and a group of output channels, so that no other block adds to them. The
// sums are in the order of the taps.

// scatterPanels are packed together: their rows are neighbours in the filter, whose rows lie far apart.
const scatterPanels = 2

// Scattering loads and stores its sums for each tap. It must save a share of the products, and add up
// enough channels at a time.
const (
	scatterShare = 0.75
	scatterDepth = 256
)

// suitsScatter reports whether scattering pays. Scattering supports neither padding of the convolution nor a
// mask.
func (k *correlation) suitsScatter(pl *plan) bool {
	if !k.turned || k.taps.some() || k.mask != nil || k.r*k.s == 1 || k.padH != k.r-1 || k.padW != k.s-1 {
		return false
	}
	cells := k.h * tensor.CeilTo(k.w, pl.rows) // including the empty places of tiles
	return k.depth >= scatterDepth && float64(cells) <= scatterShare*float64(k.p*k.q)
}

// cutScatter makes groups of panels, and chunks of the input's depth channels that keep a group in the cache.
func (pl *plan) cutScatter(depth int) {
	pl.private = true
	pl.perGroup = min(scatterPanels, pl.panels)
	pl.groups = tensor.Ceil(pl.panels, pl.perGroup)
	pl.chunk = min(depth, panelFloats/(pl.perGroup*pl.wide))
}

// scatterNeed is the scratch memory of a block.
func (k *correlation) scatterNeed() need {
	pl := &k.plan
	return need{offsets: tensor.CeilTo(k.w, pl.rows), edge: pl.rows * pl.wide, panel: pl.perGroup * pl.wide * pl.chunk}
}

// scatterBlock computes an image for a group of panels.
func (c *CPU) scatterBlock(worker, index int) {
	k, s := &c.corr, &c.scratch[worker]
	image, lo := index/k.plan.groups, index%k.plan.groups*k.plan.perGroup
	hi := min(lo+k.plan.perGroup, k.plan.panels)
	if !k.load {
		first := image * k.p * k.q * k.width
		clearBlock(k.out[first:], k.width, 0, k.p*k.q, lo*k.plan.wide, min(hi*k.plan.wide, k.width))
	}
	s.offsets = tensor.Grow(s.offsets, tensor.CeilTo(k.w, k.plan.rows))
	for i := range s.offsets {
		s.offsets[i] = min(i, k.w-1) * k.depth
	}
	for tap := range k.r * k.s {
		for at := 0; at < k.depth; at += k.plan.chunk {
			c.scatterChunk(k, s, image, tap, at, min(k.plan.chunk, k.depth-at), lo, hi)
		}
	}
	s.tile = simd.Tile{}
}

// scatterChunk sends channels at to at+length of an image through one tap, to panels lo to hi.
func (c *CPU) scatterChunk(k *correlation, s *scratch, image, tap, at, length, lo, hi int) {
	s.panel = tensor.Grow(s.panel, (hi-lo)*k.plan.wide*length)
	for panel := lo; panel < hi; panel++ {
		c.packPanel(k, s.panel[(panel-lo)*k.plan.wide*length:], panel, tap*k.depth+at, length)
	}
	down, right := k.r-1-tap/k.s, k.s-1-tap%k.s
	for h := range k.h {
		in := k.in[(image*k.h+h)*k.w*k.depth+at:]
		line := ((image*k.p+h+down)*k.q + right) * k.width
		for w := 0; w < k.w; w += k.plan.rows {
			for panel := lo; panel < hi; panel++ {
				width, column := k.plan.panelWidth(panel, k.width), panel*k.plan.wide
				s.tile = simd.Tile{
					A: in, Offsets: s.offsets[w:], Rows: min(k.plan.rows, k.w-w), Taps: 1, Depth: length,
					Panel: s.panel[(panel-lo)*k.plan.wide*length:][:width*length], Load: true,
				}
				c.multiply(k, s, line+w*k.width+column, k.width, column, width, false, false)
			}
		}
	}
}
