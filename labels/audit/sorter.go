package audit

import "slices"

// sorter sorts keys digit by digit; it keeps its buffers from call to call.
type sorter struct {
	own  [2][]uint32
	more []uint32
}

// room returns one of two buffers as an empty slice with capacity for n keys.
func (s *sorter) room(which, n int) []uint32 {
	s.own[which] = slices.Grow(s.own[which][:0], n)
	return s.own[which]
}

// sort sorts keys in ascending order.
func (s *sorter) sort(keys []uint32) {
	const (
		bits   = 11
		digits = 3 // 3 digits of 11 bits cover a key
	)
	if len(keys) < 1<<bits {
		slices.Sort(keys)
		return
	}
	s.more = slices.Grow(s.more[:0], len(keys))[:len(keys)]
	var counts [digits][1 << bits]uint32
	for _, key := range keys {
		for d := range digits {
			counts[d][key>>(d*bits)&(1<<bits-1)]++
		}
	}
	from, to := keys, s.more
	for d := range digits {
		at := uint32(0)
		for v, n := range counts[d] {
			counts[d][v] = at
			at += n
		}
		for _, key := range from {
			v := key >> (d * bits) & (1<<bits - 1)
			to[counts[d][v]] = key
			counts[d][v]++
		}
		from, to = to, from
	}
	copy(keys, from) // after three digits the order is in the other buffer
}
