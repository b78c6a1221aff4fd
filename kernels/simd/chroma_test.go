package simd

import (
	"math/rand/v2"
	"testing"
)

func TestDoubleRow_EveryLevelAsTheDefinition(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, r *rand.Rand) {
		for _, n := range sizes[1:] {
			for _, rounding := range [][2]uint16{{8, 7}, {4, 8}, {0, 15}} {
				near, far := randomBytes(t, r, n), randomBytes(t, r, n)
				got, scratch := fencedBytes(t, 2*n), make([]uint16, n+2)
				l.DoubleRow(got, near, far, scratch, rounding[0], rounding[1])
				at := func(i int) int {
					i = min(max(i, 0), n-1)
					return 3*int(near[i]) + int(far[i])
				}
				for i, v := range got {
					want := (3*at(i/2) + at(i/2-1+i%2*2) + int(rounding[i%2])) / 16
					if int(v) != want {
						t.Fatalf("%d samples, rounding %v: %d is %d, want %d", n, rounding, i, v, want)
					}
				}
			}
		}
	})
}

func TestDoubleRow_RefusesWhatDoesNotFit(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level, _ *rand.Rand) {
		row, twice, scratch := make([]uint8, 20), make([]uint8, 40), make([]uint16, 22)
		refuses(t, map[string]func(){
			"nothing":  func() { l.DoubleRow(nil, nil, nil, scratch, 8, 7) },
			"far":      func() { l.DoubleRow(twice, row, row[1:], scratch, 8, 7) },
			"result":   func() { l.DoubleRow(twice[1:], row, row, scratch, 8, 7) },
			"scratch":  func() { l.DoubleRow(twice, row, row, scratch[1:], 8, 7) },
			"rounding": func() { l.DoubleRow(twice, row, row, scratch, 16, 7) },
		})
	})
}
