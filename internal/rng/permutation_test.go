package rng

import (
	"math"
	"testing"
)

func TestPermutation_EveryNumberOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 16, 17, 255, 256, 1000, 4097, 70_000} {
		p := NewPermutation(7, n, 3)
		seen := make([]bool, n)
		for position := range n {
			element := p.At(position)
			if element < 0 || element >= n || seen[element] {
				t.Fatalf("n = %d: position %d has %d, twice or out of range", n, position, element)
			}
			seen[element] = true
			if back := p.Position(element); back != position {
				t.Fatalf("n = %d: %d stands at %d, found at %d", n, element, position, back)
			}
		}
	}
}

// TestPermutation_ElementsFallAnywhere counts which element comes first over many seeds, by chi-square.
func TestPermutation_ElementsFallAnywhere(t *testing.T) {
	const draws = 20_000
	for _, n := range []int{3, 10, 64, 100} {
		for _, position := range []int{0, n - 1} {
			counts := make([]float64, n)
			for seed := range uint64(draws) {
				p := NewPermutation(seed, n)
				counts[p.At(position)]++
			}
			chi, expected := 0.0, float64(draws)/float64(n)
			for _, c := range counts {
				chi += (c - expected) * (c - expected) / expected
			}
			freedom := float64(n - 1)
			if limit := freedom + 5*math.Sqrt(2*freedom); chi > limit {
				t.Errorf("n = %d, position %d: chi-square %.1f, want at most %.1f", n, position, chi, limit)
			}
		}
	}
}

// TestPermutation_NeighboursPart fails for an order that only shifts or keeps runs.
func TestPermutation_NeighboursPart(t *testing.T) {
	const n = 10_000
	p, q := NewPermutation(1, n, 0), NewPermutation(1, n, 1)
	together, same := 0, 0
	for i := range n - 1 {
		if p.At(i+1)-p.At(i) == 1 {
			together++
		}
		if p.At(i) == q.At(i) {
			same++
		}
	}
	if together > 10 || same > 10 { // one is expected of either
		t.Errorf("%d neighbours stay together, %d elements stand alike under two indices", together, same)
	}
}

func BenchmarkPermutation(b *testing.B) {
	p := NewPermutation(1, 1_000_000)
	for i := range b.N {
		p.At(i % 1_000_000)
	}
}
