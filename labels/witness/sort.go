package witness

import (
	"math"
	"slices"
)

// sorted sorts values, none of them NaN: many ones by the digits of their bits, in place of comparisons.
func sorted(values []float64) []float64 {
	const digits, bits = 4, 16
	if len(values) < 1<<bits {
		slices.Sort(values)
		return values
	}
	counts := new([digits][1 << bits]uint32)
	from, to := make([]uint64, len(values)), make([]uint64, len(values))
	for i, v := range values {
		key := math.Float64bits(v)
		if key>>63 == 1 { // negative: larger bits are smaller numbers
			key = ^key
		} else {
			key |= 1 << 63
		}
		from[i] = key
		for d := range counts {
			counts[d][uint16(key>>(bits*d))]++
		}
	}
	for d := range counts {
		start := uint32(0)
		for i, n := range counts[d] {
			counts[d][i], start = start, start+n
		}
		for _, key := range from {
			place := &counts[d][uint16(key>>(bits*d))]
			to[*place] = key
			*place++
		}
		from, to = to, from
	}
	for i, key := range from {
		if key>>63 == 1 {
			key &^= 1 << 63
		} else {
			key = ^key
		}
		values[i] = math.Float64frombits(key)
	}
	return values
}
