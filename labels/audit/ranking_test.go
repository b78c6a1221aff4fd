package audit

import (
	"math"
	"slices"
	"testing"

	"nmn/eval"
	"nmn/internal/rng"
)

// Counting right cells between wrong ones gives what sorting all of them gives, with many ties and over several blocks.
func TestRank_IsThatOfSortingAll(t *testing.T) {
	for _, c := range []struct {
		n, levels int
		wrong     float64
	}{{1, 2, 1}, {50, 4, .5}, {3000, 100000, .1}, {30000, 300, .02}, {20000, 1 << 30, .3}, {9000, 5, 0}} {
		s := rng.New(3, c.n)
		scores, labels, truth := make([]float32, c.n), make([]uint8, c.n), make([]uint8, c.n)
		for i := range scores {
			scores[i] = float32(s.Intn(c.levels) - c.levels/2)
			labels[i] = uint8(s.Intn(2))
			if truth[i] = labels[i]; s.Float64() < c.wrong {
				truth[i] ^= 1
			}
		}
		at := []int{0, 1, 2, 10, c.n / 2, c.n - 1, c.n, c.n + 1}
		got, err := Rank(scores, labels, truth, at)
		if err != nil {
			t.Fatal(err)
		}
		wrong := make([]uint8, c.n)
		var parts [2]struct {
			scores []float32
			wrong  []uint8
		}
		for i, z := range labels {
			wrong[i] = z ^ truth[i]
			parts[z].scores, parts[z].wrong = append(parts[z].scores, scores[i]), append(parts[z].wrong, wrong[i])
		}
		whole, _, err := eval.AveragePrecision(scores, wrong)
		missing, _, err0 := eval.AveragePrecision(parts[0].scores, parts[0].wrong)
		incorrect, _, err1 := eval.AveragePrecision(parts[1].scores, parts[1].wrong)
		precision, err2 := eval.PrecisionAt(scores, wrong, at)
		if err != nil || err0 != nil || err1 != nil || err2 != nil {
			t.Fatal(err, err0, err1, err2)
		}
		same := func(what string, a, b eval.Number) {
			if math.Float64bits(float64(a)) != math.Float64bits(float64(b)) && (a.Defined() || b.Defined()) {
				t.Errorf("%+v: %s is %v, by sorting %v", c, what, a, b)
			}
		}
		same("AP", got.AP, whole)
		same("AP of missing labels", got.MissingAP, missing)
		same("AP of incorrect labels", got.IncorrectAP, incorrect)
		for _, k := range at {
			same("a precision", got.PrecisionAt[k], precision[k])
		}
	}
}

func TestSorter_SortsManyAndFew(t *testing.T) {
	s, draws := new(sorter), rng.New(1)
	for _, n := range []int{0, 1, 2047, 2048, 50000} {
		keys := s.room(0, n)
		for range n {
			keys = append(keys, draws.Uint32())
		}
		want := slices.Sorted(slices.Values(keys))
		if s.sort(keys); !slices.Equal(keys, want) {
			t.Errorf("%d keys are not sorted", n)
		}
	}
}
