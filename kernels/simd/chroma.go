package simd

import "fmt"

// DoubleRow interpolates a row of samples to twice its width, between two rows: with m = 3·near + far,
//
//	dst[2i]   = (3·m[i] + m[i-1] + even) / 16
//	dst[2i+1] = (3·m[i] + m[i+1] + odd) / 16
//
// rounded down. At the ends the first and the last m are repeated. near and far are equally long, dst is
// twice as long, and scratch has at least two more elements. even and odd are at most 15. Results are equal
// at all levels.
func (l Level) DoubleRow(dst, near, far []uint8, scratch []uint16, even, odd uint16) {
	n := len(near)
	if n == 0 || len(far) != n || len(dst) != 2*n || len(scratch) < n+2 || even > 15 || odd > 15 {
		panic(fmt.Sprintf("simd: rows of %d and %d to %d, with room for %d, rounding %d and %d", n, len(far), len(dst),
			len(scratch), even, odd))
	}
	mixed := scratch[:n+2] // one element before the first, one after the last
	k, groups, done := &table[l], n/16, 0
	if k.mixRows != nil && groups > 0 {
		k.mixRows(&mixed[1], &near[0], &far[0], groups)
		done = 16 * groups
	}
	for i := done; i < n; i++ {
		mixed[i+1] = 3*uint16(near[i]) + uint16(far[i])
	}
	mixed[0], mixed[n+1] = mixed[1], mixed[n]
	if done > 0 {
		k.doubleRow(&dst[0], &mixed[0], uint32(even)<<16|uint32(even), uint32(odd)<<16|uint32(odd), groups)
	}
	for i := done; i < n; i++ {
		m := 3 * mixed[i+1]
		dst[2*i] = uint8((m + mixed[i] + even) >> 4)
		dst[2*i+1] = uint8((m + mixed[i+2] + odd) >> 4)
	}
}
