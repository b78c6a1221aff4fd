package alike

import (
	"cmp"
	"slices"
)

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
