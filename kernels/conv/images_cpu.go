package conv

import (
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
)

// Small maps have much border: a 3×3 filter over 6×6 pixels finds a fifth of its products in the padding. If
// there are enough images, a tile takes the same cell of several of them. All of its windows are cut off
// equally, so padding is neither copied nor multiplied.

// imageShare is the share of products outside of the padding above which it does not pay.
const imageShare = 0.9

// inside counts the pairs of output and filter positions, along one side, that meet an input position.
func inside(out, filter, pad, size, step int) int {
	n := 0
	for p := range out {
		n += min(filter, size+pad-p*step) - max(0, pad-p*step)
	}
	return n
}

// suitsImages reports whether a correlation is computed with tiles over images.
func (k *correlation) suitsImages(pl *plan) bool {
	if !k.padded() || k.taps.some() || k.n < pl.rows || k.reduction()*pl.wide > 4*panelFloats {
		return false
	}
	met := inside(k.p, k.r, k.padH, k.h, k.step) * inside(k.q, k.s, k.padW, k.w, k.step)
	return float64(met) < imageShare*float64(k.p*k.q*k.r*k.s)
}

// imagesBlock computes all cells of a tile of images, for one panel.
func (c *CPU) imagesBlock(worker, index int) {
	k, s := &c.corr, &c.scratch[worker]
	image, panel := index/k.plan.panels*k.plan.rows, index%k.plan.panels
	rows := min(k.plan.rows, k.n-image)
	s.offsets = tensor.Grow(s.offsets, k.plan.rows)
	for i := range s.offsets {
		s.offsets[i] = min(i, rows-1) * k.h * k.w * k.depth
	}
	width, column := k.plan.panelWidth(panel, k.width), panel*k.plan.wide
	packed := c.packed[column*k.reduction():][:width*k.reduction()]
	for p := range k.p {
		for q := range k.q {
			s.tile = simd.Tile{Offsets: s.offsets, Rows: rows, Load: k.load || k.shortcut != nil}
			k.cutWindow(&s.tile, image, p, q, width, packed)
			at := ((image*k.p+p)*k.q+q)*k.width + column
			c.multiply(k, s, at, k.p*k.q*k.width, column, width, true, true)
		}
	}
	s.tile = simd.Tile{}
}

// cutWindow sets a tile to the part of the window of cell p, q that lies inside the input.
func (k *correlation) cutWindow(t *simd.Tile, image, p, q, width int, packed []float32) {
	p, q = p*k.step, q*k.step
	top, left := max(0, k.padH-p), max(0, k.padW-q)
	bottom, right := min(k.r, k.h+k.padH-p), min(k.s, k.w+k.padW-q)
	t.A = k.in[((image*k.h+p+top-k.padH)*k.w+q+left-k.padW)*k.depth:]
	t.Taps, t.TapStride = bottom-top, k.w*k.depth
	t.Depth = (right - left) * k.depth
	t.Panel = packed[(top*k.s+left)*k.depth*width:]
	t.PanelSkip = (k.s*k.depth - t.Depth) * width
}
