package rng

import "math/bits"

// permutationRounds is how often each half of a number is mixed with the other. A Feistel network with four
// random rounds looks random (Luby and Rackoff 1988). Numbers here may have few bits, for which more rounds
// are better.
const permutationRounds = 7

// Permutation is an order of the numbers 0 to n-1 that takes no memory: element and position are computed
// from each other. It is a Feistel network on the next power of four, whose rounds are Philox blocks, walked
// until it falls below n (Black and Rogaway 2002). So every number comes exactly once. Unlike Shuffle, it
// cannot produce all n! orders.
type Permutation struct {
	n       uint64
	half    uint // bits of each half
	key     [2]uint32
	indices [2]uint32
}

// NewPermutation returns the order of n numbers for a seed and up to two indices. n is at least 1.
func NewPermutation(seed uint64, n int, indices ...int) Permutation {
	if n < 1 || len(indices) > 2 {
		panic("rng: a permutation needs at least one number and at most two indices")
	}
	p := Permutation{
		n:    uint64(n),
		half: max(1, uint(bits.Len64(uint64(n-1))+1)/2),
		key:  [2]uint32{uint32(seed), uint32(seed >> 32)},
	}
	for i, index := range indices {
		p.indices[i] = uint32(index)
	}
	return p
}

// At is the element at a position.
func (p Permutation) At(position int) int {
	x := uint64(position)
	for {
		left, right := x>>p.half, x&(1<<p.half-1)
		for round := range uint32(permutationRounds) {
			left, right = right, left^p.mix(right, round)
		}
		if x = left<<p.half | right; x < p.n {
			return int(x)
		}
	}
}

// Position returns the position of an element.
func (p Permutation) Position(element int) int {
	x := uint64(element)
	for {
		left, right := x>>p.half, x&(1<<p.half-1)
		for round := uint32(permutationRounds); round > 0; round-- {
			left, right = right^p.mix(left, round-1), left
		}
		if x = left<<p.half | right; x < p.n {
			return int(x)
		}
	}
}

// mix is the function of a round, on half of the numbers' bits.
func (p Permutation) mix(half uint64, round uint32) uint64 {
	b := Block([4]uint32{uint32(half), round, p.indices[0], p.indices[1]}, p.key)
	return uint64(b[0]) & (1<<p.half - 1)
}
