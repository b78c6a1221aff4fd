package eval

import (
	"errors"
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
)

// bestBySorting tries every prefix of the sorted probabilities.
func bestBySorting(p []float64) (theta float64) {
	slices.SortFunc(p, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	})
	all, sum, best := 0.0, 0.0, -1.0
	for _, v := range p {
		all += v
	}
	for i, v := range p {
		sum += v
		if f := 2 * sum / (float64(i+1) + all); f > best && (i+1 == len(p) || p[i+1] != v) {
			best, theta = f, v
		}
	}
	return theta
}

func TestPlugInThresholds_AreTheBestOfAllCuts(t *testing.T) {
	const bags, classes = 400, 7
	s := rng.New(5)
	scores := make([]float32, bags*classes)
	for i := range scores {
		scores[i] = float32(s.Normal(float64(i%classes)-4, 2))
	}
	got, err := PlugInThresholds(scores, bags, classes, true)
	check(t, err)
	for c := range classes {
		var p []float64
		for i := range bags {
			p = append(p, sigmoid(float64(scores[i*classes+c])))
		}
		if want := bestBySorting(p); math.Abs(got[c]-want) > 1e-12 {
			t.Errorf("class %d: threshold %.12f, want %.12f", c, got[c], want)
		}
	}
	if _, err := PlugInThresholds(scores[1:], bags, classes, true); !errors.Is(err, ErrShape) {
		t.Errorf("one score too few: %v", err)
	}
}
