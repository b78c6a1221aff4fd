package ref

import (
	"math"
	"testing"
)

func TestBFloat16_IsTheNearest(t *testing.T) {
	for x, want := range map[float64]float64{
		0: 0, 1: 1, -1.5: -1.5, 257: 256, 258: 258, 259: 260, -257: -256, 1.00390625: 1, 1.01171875: 1.015625,
		math.Inf(-1): math.Inf(-1),
	} {
		if got := BFloat16(x); got != want {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
	if !math.IsNaN(BFloat16(math.NaN())) {
		t.Error("NaN becomes a number")
	}
}

func TestSumOverRanks(t *testing.T) {
	given := [][]float64{{1, 257}, {-3, 257}}
	for _, c := range []struct {
		round func(float64) float64
		want  [4]float64
	}{{nil, [4]float64{-2, 514, 4, 514}}, {BFloat16, [4]float64{-2, 512, 4, 512}}} {
		sums, magnitudes := SumOverRanks(given, c.round)
		if got := [4]float64{sums[0], sums[1], magnitudes[0], magnitudes[1]}; got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
