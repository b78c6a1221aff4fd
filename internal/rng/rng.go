// Package rng draws random numbers from counters: the same (seed, stream, counter) always gives the same
// numbers, regardless of earlier draws and goroutines. Epoch orders, scenes, label noise, flips and dropout
// masks use it. So results depend neither on the number of workers nor on the step at which a run was
// resumed.
package rng

import (
	"math"
	"math/bits"

	"nmn/internal/parallel"
)

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
const (
	multiplier0 = 0xD2511F53
	multiplier1 = 0xCD9E8D57
	weyl0       = 0x9E3779B9
	weyl1       = 0xBB67AE85
	rounds      = 10
)

// Block returns the four 32-bit words of Philox4x32-10 for a counter under a key.
func Block(counter [4]uint32, key [2]uint32) [4]uint32 {
	// Scalars stay in registers but the array would not: half the time.
	c0, c1, c2, c3, k0, k1 := counter[0], counter[1], counter[2], counter[3], key[0], key[1]
	for range rounds {
		p0, p1 := uint64(multiplier0)*uint64(c0), uint64(multiplier1)*uint64(c2)
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0, k1 = k0+weyl0, k1+weyl1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Stream is a sequence of random numbers for one seed and up to three indices, for example (seed; epoch,
// sample). It is a value: copying it copies the position. It is not safe for concurrent use. Make one for
// each goroutine instead, which costs nothing.
type Stream struct {
	key     [2]uint32
	counter [4]uint32 // word 0 counts blocks, words 1 to 3 are the indices
	block   [4]uint32
	left    int
}

// New returns the stream of a seed and indices. Indices are used modulo 2^32.
func New(seed uint64, indices ...int) Stream {
	if len(indices) > 3 {
		panic("rng: a stream has at most three indices")
	}
	s := Stream{key: [2]uint32{uint32(seed), uint32(seed >> 32)}}
	for i, index := range indices {
		s.counter[i+1] = uint32(index)
	}
	return s
}

// Derive returns a seed for a named purpose, so that two uses of one seed never share a stream.
func Derive(seed uint64, purpose string) uint64 {
	h := uint64(0xcbf29ce484222325) // FNV-1a
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 0x100000001b3
	}
	b := Block([4]uint32{uint32(h), uint32(h >> 32), 0, 0}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(b[0]) | uint64(b[1])<<32
}

// Uint32 returns 32 random bits.
func (s *Stream) Uint32() uint32 {
	if s.left == 0 {
		s.block = Block(s.counter, s.key)
		s.counter[0]++
		s.left = 4
	}
	s.left--
	return s.block[3-s.left]
}

// After returns the stream after n more words of 32 bits have been drawn.
func (s Stream) After(n int) Stream {
	if n -= s.left; n >= 0 { // the rest of the block comes first
		s.left = 0
		s.counter[0] += uint32(n / 4)
		n %= 4
	} else {
		n += s.left
	}
	for range n {
		s.Uint32()
	}
	return s
}

// Uint64 returns 64 random bits; with it a Stream is a math/rand/v2 Source.
func (s *Stream) Uint64() uint64 {
	lo := s.Uint32()
	return uint64(s.Uint32())<<32 | uint64(lo)
}

// Float64 returns a number in [0, 1) with 53 random bits.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Uniform returns a number in [lo, hi).
func (s *Stream) Uniform(lo, hi float64) float64 { return lo + (hi-lo)*s.Float64() }

// Intn returns an integer in [0, n). n must be positive. The bias of the multiply-shift is below n/2^64.
func (s *Stream) Intn(n int) int {
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int(hi)
}

// Normal returns a normally distributed number by Box and Muller. It always uses two uniforms, so that the
// position in the stream does not depend on the values drawn.
func (s *Stream) Normal(mean, deviation float64) float64 {
	u := 1 - s.Float64() // in (0, 1]: the logarithm is finite
	v := s.Float64()
	return mean + deviation*math.Sqrt(-2*math.Log(u))*math.Cos(2*math.Pi*v)
}

// Normals fills a slice with the normally distributed numbers that calls of Normal would return. All cores
// share the work.
func (s *Stream) Normals(values []float32, mean, deviation float64) {
	const some, words = 1 << 14, 4 // numbers that a goroutine draws at a time; words of a number
	begin := *s
	parallel.Blocks(len(values), some, func(from, to int) {
		stream := begin.After(from * words)
		for i := from; i < to; i++ {
			values[i] = float32(stream.Normal(mean, deviation))
		}
	})
	*s = begin.After(len(values) * words)
}

// Shuffle orders p at random (Fisher and Yates).
func (s *Stream) Shuffle(p []int) {
	for i := len(p) - 1; i > 0; i-- {
		j := s.Intn(i + 1)
		p[i], p[j] = p[j], p[i]
	}
}

// Choice returns index i with probability proportional to weights[i]. Weights are not negative and their sum
// is positive.
func (s *Stream) Choice(weights []float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	u := s.Float64() * total
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	last := len(weights) - 1 // rounding left u at or above 0: take the last index that can occur
	for last > 0 && weights[last] == 0 {
		last--
	}
	return last
}
