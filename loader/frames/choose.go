package frames

import (
	"strconv"
	"strings"
)

// choose lists the frames that are taken of n when m are wanted: floor((i + 1/2) n / m), the centre of
// each of m equal spans. A clip of no more than m frames gives each of them once.
func choose(n, m int) []int {
	if n <= m {
		m = max(n, 0)
	}
	chosen := make([]int, m)
	for i := range chosen {
		chosen[i] = int((2*int64(i) + 1) * int64(n) / (2 * int64(m)))
	}
	return chosen
}

// selectFilter is the filter of ffmpeg that lets frames of these numbers through, counted as the
// decoder gives them.
func selectFilter(chosen []int) string {
	var b strings.Builder
	b.WriteString("select='")
	for i, n := range chosen {
		if i > 0 {
			b.WriteByte('+')
		}
		b.WriteString("eq(n," + strconv.Itoa(n) + ")")
	}
	b.WriteByte('\'')
	return b.String()
}
