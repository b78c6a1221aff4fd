package eval

import "math"

// ranking is a column of scores in descending order. Each entry holds an order-preserving key of the score in its upper
// half and the row in its lower half; equal scores have equal keys and stand in the order of their rows.
type ranking []uint64

func (r ranking) row(i int) int      { return int(uint32(r[i])) }
func (r ranking) tied(i, j int) bool { return r[i]>>32 == r[j]>>32 }

// DescendingKey maps float32 to uint32 so that a larger score has a smaller key. The two zeros
// share a key. NaN has no place in an order and must have been refused before.
func DescendingKey(score float32) uint32 {
	if score == 0 {
		score = 0 // -0 equals 0
	}
	b := math.Float32bits(score)
	if b>>31 == 0 {
		return ^(b | 1<<31)
	}
	return b
}

const (
	digitBits = 11
	digits    = 3 // 3 digits of 11 bits cover a 32-bit key
	radix     = 1 << digitBits
)

// ranker sorts columns; it keeps its buffers from column to column.
type ranker struct {
	a, b   []uint64
	counts [digits][radix]uint32
}

// rank sorts scores in descending order, stably. The result is valid until the next call.
// A radix sort (least significant digit first) is stable by construction and about ten times as
// fast as comparing, at the 40,504 rows of a COCO validation column.
func (s *ranker) rank(scores []float32) ranking {
	n := len(scores)
	if cap(s.a) < n {
		s.a, s.b = make([]uint64, n), make([]uint64, n)
	}
	from, to := s.a[:n], s.b[:n]
	s.counts = [digits][radix]uint32{}
	for i, score := range scores {
		key := DescendingKey(score)
		from[i] = uint64(key)<<32 | uint64(uint32(i))
		for d := range digits {
			s.counts[d][key>>(d*digitBits)&(radix-1)]++
		}
	}
	for d := range digits {
		if s.scatter(to, from, d) {
			from, to = to, from
		}
	}
	return ranking(from)
}

// scatter moves the entries into the order of one digit. It reports false, and moves nothing, when
// all entries share the digit.
func (s *ranker) scatter(to, from []uint64, digit int) bool {
	counts, shift := &s.counts[digit], 32+digit*digitBits
	at := uint32(0)
	for v, c := range counts {
		if int(c) == len(from) {
			return false
		}
		counts[v] = at
		at += c
	}
	for _, e := range from {
		v := e >> shift & (radix - 1)
		to[counts[v]] = e
		counts[v]++
	}
	return true
}
