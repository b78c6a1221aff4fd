package witness

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"nmn/group"
)

// Values are put in order by the digits of their keys: what lies at a few places of the order of very many values of all
// ranks is found by counting digits, the first ones first, without sorting and without gathering them.
const (
	firstBits = 16
	nextBits  = 12
	// fewKeys are gathered and sorted.
	fewKeys = 1 << 16
)

// keyOf is a number whose order is that of the values, none of them NaN.
func keyOf(v float64) uint64 {
	key := math.Float64bits(v)
	if key>>63 == 1 { // negative: larger bits are smaller numbers
		return ^key
	}
	return key | 1<<63
}

func valueOf(key uint64) float64 {
	if key>>63 == 1 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}

// selection looks for the keys at some places of the order of all.
type selection struct {
	f *finder
	p *peers

	left     []int    // of each place looked for: how many keys with its prefix lie before it
	of       []int    // its prefix
	prefixes []uint64 // first bits of the keys, ascending
	bits     int      // how many of them
	keys     int      // with one of the prefixes
	// of16 is the first prefix with each of the first 16 bits; -1 for none.
	of16 []int16
}

// ordered are the values of t, of the captions and of foreign ones in their places, that stand at some ascending places
// of the order of all, of all ranks.
func (f *finder) ordered(ctx context.Context, p *peers, places []int) ([]float64, error) {
	s := selection{f: f, p: p, left: slices.Clone(places), of: make([]int, len(places)), prefixes: []uint64{0},
		keys: 2 * p.all}
	for s.keys > fewKeys && s.bits < 64 && len(places) > 0 {
		if err := s.narrow(ctx); err != nil {
			return nil, err
		}
	}
	if s.bits == 64 || len(places) == 0 {
		return s.values(s.prefixes), nil
	}
	keys, err := s.gather(ctx)
	if err != nil {
		return nil, err
	}
	return s.values(keys), nil
}

// values are those at the places, of sorted keys with the prefixes.
func (s *selection) values(keys []uint64) []float64 {
	out := make([]float64, len(s.left))
	for i, left := range s.left {
		first := s.of[i] // all keys with a whole prefix are equal
		if s.bits < 64 {
			first, _ = slices.BinarySearchFunc(keys, s.prefixes[s.of[i]], func(key, prefix uint64) int {
				if key>>(64-s.bits) < prefix {
					return -1
				}
				return 1
			})
			first += left
		}
		out[i] = valueOf(keys[first])
	}
	return out
}

// prefix is that of a key; -1 where nothing is looked for there.
func (s *selection) prefix(key uint64) int {
	if s.bits == 0 {
		return 0
	}
	at := int(s.of16[key>>(64-firstBits)])
	if at < 0 || s.bits == firstBits {
		return at
	}
	for prefix := key >> (64 - s.bits); at < len(s.prefixes) && s.prefixes[at] <= prefix; at++ {
		if s.prefixes[at] == prefix {
			return at
		}
	}
	return -1
}

// each goes through the keys of this rank that have one of the prefixes.
func (s *selection) each(from, to int, handle func(key uint64, prefix int)) {
	for _, at := range s.p.captions[from:to] {
		for _, v := range [2]float64{s.f.own[at], s.f.null[at]} {
			key := keyOf(v)
			if prefix := s.prefix(key); prefix >= 0 {
				handle(key, prefix)
			}
		}
	}
}

// narrow makes the prefixes longer.
func (s *selection) narrow(ctx context.Context) error {
	more := nextBits
	if s.bits == 0 {
		more = firstBits
	}
	counts, err := s.count(ctx, more)
	if err != nil {
		return err
	}
	digits := 1 << more
	var prefixes []uint64
	s.keys = 0
	last, before := -1, 0 // the digit at hand, of all, and how many keys of its prefix lie before it
	for i := range s.left {
		first := s.of[i] * digits
		if last < first {
			last, before = first, 0
		}
		for ; s.left[i] >= before+counts[last]; last++ {
			before += counts[last]
		}
		prefix := s.prefixes[s.of[i]]<<more | uint64(last-first)
		if len(prefixes) == 0 || prefixes[len(prefixes)-1] != prefix {
			prefixes = append(prefixes, prefix)
			s.keys += counts[last]
		}
		s.left[i] -= before
		s.of[i] = len(prefixes) - 1
	}
	s.prefixes, s.bits = prefixes, s.bits+more
	s.find16()
	return nil
}

// find16 notes where the prefixes with the same first bits begin.
func (s *selection) find16() {
	if s.of16 == nil {
		s.of16 = make([]int16, 1<<firstBits)
	}
	for i := range s.of16 {
		s.of16[i] = -1
	}
	for i, prefix := range slices.Backward(s.prefixes) {
		s.of16[prefix>>(s.bits-firstBits)] = int16(i)
	}
}

// count counts the next digits of the keys of all ranks, of each prefix.
func (s *selection) count(ctx context.Context, bits int) ([]int, error) {
	var mu sync.Mutex
	all := make([]int, len(s.prefixes)<<bits)
	shift, digit := 64-s.bits-bits, uint64(1)<<bits-1
	err := s.f.eachPeer(ctx, s.p, func(_, from, to int) {
		own := make([]uint32, len(all))
		s.each(from, to, func(key uint64, prefix int) { own[prefix<<bits|int(key>>shift&digit)]++ })
		mu.Lock()
		defer mu.Unlock()
		for i, n := range own {
			all[i] += int(n)
		}
	})
	return all, group.SumCounts(s.f.g, all, err)
}

// gather are the keys of all ranks with one of the prefixes, sorted.
func (s *selection) gather(ctx context.Context) ([]uint64, error) {
	var mu sync.Mutex
	var keys []uint64
	err := s.f.eachPeer(ctx, s.p, func(_, from, to int) {
		var own []uint64
		s.each(from, to, func(key uint64, _ int) { own = append(own, key) })
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, own...)
	})
	if s.f.g.Size() > 1 {
		var data []byte
		for _, key := range keys {
			data = binary.LittleEndian.AppendUint64(data, key)
		}
		all, gathering := group.Exchange(s.f.g, data, err)
		if gathering != nil {
			return nil, gathering
		}
		keys = keys[:0]
		for _, data := range all {
			for ; len(data) >= 8; data = data[8:] {
				keys = append(keys, binary.LittleEndian.Uint64(data))
			}
		}
	}
	slices.Sort(keys)
	return keys, err
}
