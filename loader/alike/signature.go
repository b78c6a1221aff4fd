package alike

import (
	"cmp"
	"math/bits"
	"slices"

	"nmn/loader/picture"
)

// Signature is a picture's perceptual hash by differences (dHash). The picture is reduced to 9×9 cells. One
// bit for each pair of neighbours records which is brighter, 64 across and 64 down. Scaling or encoding a
// picture anew changes few of the bits.
type Signature struct{ Across, Down uint64 }

const cells = 9

// Pictures that are too plain have no signature. Of the 128 differences, at least this many must reach a grey
// level, because noise determines the other bits. In each 64 bits, at least this many must have the rarer
// value, because all pictures that grow brighter to one side are alike.
const (
	greyStep      = 1.0
	fewestClear   = 96
	fewestAgainst = 8
)

// Sign returns the signature of a picture; false if it is too plain or too small to have one.
func Sign(p *picture.Picture) (Signature, bool) {
	if p.Width < cells || p.Height < cells {
		return Signature{}, false
	}
	grid := luminance(p)
	var s Signature
	clear := 0
	for y := range cells - 1 {
		for x := range cells - 1 {
			cell := grid[y*cells+x]
			for _, d := range []struct {
				bits  *uint64
				other float64
			}{{&s.Across, grid[y*cells+x+1]}, {&s.Down, grid[(y+1)*cells+x]}} {
				*d.bits <<= 1
				if d.other > cell {
					*d.bits |= 1
				}
				if d.other >= cell+greyStep || d.other <= cell-greyStep {
					clear++
				}
			}
		}
	}
	return s, clear >= fewestClear && mixed(s.Across) && mixed(s.Down)
}

func mixed(b uint64) bool {
	ones := bits.OnesCount64(b)
	return min(ones, 64-ones) >= fewestAgainst
}

// luminance is the mean brightness of 9×9 cells.
func luminance(p *picture.Picture) [cells * cells]float64 {
	var grid [cells * cells]float64
	for cy := range cells {
		top, bottom := cy*p.Height/cells, (cy+1)*p.Height/cells
		for cx := range cells {
			left, right := cx*p.Width/cells, (cx+1)*p.Width/cells
			sum := 0
			for y := top; y < bottom; y++ {
				row := p.Pix[3*(y*p.Width+left) : 3*(y*p.Width+right)]
				for i := 0; i < len(row); i += 3 {
					sum += 299*int(row[i]) + 587*int(row[i+1]) + 114*int(row[i+2])
				}
			}
			grid[cy*cells+cx] = float64(sum) / float64(1000*(bottom-top)*(right-left))
		}
	}
	return grid
}

// Two pictures are near if at most this many bits differ. Among 14,028 pairs of photographs of MS COCO the
// nearest differ in 35 of 128 bits, 13 of them across.
const (
	mostAcross = 5
	mostInAll  = 16
)

// Near reports whether two signatures belong to what looks like one picture.
func (s Signature) Near(o Signature) bool {
	across := bits.OnesCount64(s.Across ^ o.Across)
	return across <= mostAcross && across+bits.OnesCount64(s.Down^o.Down) <= mostInAll
}

// distance is the number of bits that differ.
func (s Signature) distance(o Signature) int {
	return bits.OnesCount64(s.Across^o.Across) + bits.OnesCount64(s.Down^o.Down)
}

// The across bits are cut into one block more than may differ in them, so that two pictures that are near
// have a block in common: only pictures that share one are compared.
const blocks = mostAcross + 1

// mostCompared bounds how many pictures with the same block one is compared with, of those that follow it by
// signature: a set of one scene ten thousand times over takes no quadratic time.
const mostCompared = 1000

// block is the i-th part of the bits.
func (s Signature) block(i int) uint64 {
	from, to := 64*i/blocks, 64*(i+1)/blocks
	return s.Across >> from & (1<<(to-from) - 1)
}

// sharedBlock is the first block that two signatures have in common.
func (s Signature) sharedBlock(o Signature) int {
	for i := range blocks {
		if s.block(i) == o.block(i) {
			return i
		}
	}
	return blocks
}

// Pairs calls back for the signatures that are near one another, by their places, each pair once and with the first
// place in front.
func Pairs(signs []Signature, visit func(first, second int)) {
	order := make([]int, len(signs))
	for i := range order {
		order[i] = i
	}
	for i := range blocks {
		slices.SortFunc(order, func(a, b int) int {
			s, o := signs[a], signs[b]
			return cmp.Or(cmp.Compare(s.block(i), o.block(i)), cmp.Compare(s.Across, o.Across),
				cmp.Compare(s.Down, o.Down), cmp.Compare(a, b))
		})
		for at, a := range order {
			s := signs[a]
			for _, b := range order[at+1 : min(at+1+mostCompared, len(order))] {
				o := signs[b]
				if s.block(i) != o.block(i) {
					break
				}
				if s.Near(o) && s.sharedBlock(o) == i {
					visit(min(a, b), max(a, b))
				}
			}
		}
	}
}
