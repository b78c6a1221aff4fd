package rates

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpreads_EqualADirectComputation holds the streams to all values at once.
func TestSpreads_EqualADirectComputation(t *testing.T) {
	const bags, classes, most = 777, 3, 5
	random := rand.New(rand.NewPCG(1, 2))
	values := make([][]float32, bags)
	s := NewSpreads(classes, most)
	for i := range values {
		// Rates of three sizes, the last far below what bins of even width could separate.
		values[i] = []float32{float32(Sigmoid(random.NormFloat64())), float32(Sigmoid(-4 + .5*random.NormFloat64())),
			float32(Sigmoid(-9 + random.NormFloat64()))}
		s.Add(i, values[i])
	}
	var all []Departure
	for c := range classes {
		var column []float64
		sum, squares := 0.0, 0.0
		for _, row := range values {
			column = append(column, float64(row[c]))
			sum += float64(row[c])
		}
		mean := sum / bags
		for i, v := range column {
			squares += (v - mean) * (v - mean)
			all = append(all, Departure{i, c, v, mean})
		}
		slices.Sort(column)
		got := s.Of(c)
		near(t, "mean", got.Mean, mean, 1e-12)
		near(t, "standard deviation", got.SD, math.Sqrt(squares/bags), 1e-12)
		if got.Min != column[0] || got.Max != column[bags-1] {
			t.Errorf("class %d: from %g to %g, want %g to %g", c, got.Min, got.Max, column[0], column[bags-1])
		}
		for i, level := range SpreadLevels {
			want := column[int(math.Ceil(level*bags))-1]
			if gap := math.Abs(logit(got.Quantiles[i]) - logit(want)); gap > 1./32 {
				t.Errorf("class %d: quantile %g is %g, want %g: %g apart in log-odds",
					c, level, got.Quantiles[i], want, gap)
			}
		}
	}
	slices.SortFunc(all, func(a, b Departure) int {
		return cmp.Compare(math.Abs(b.Rate-b.Mean), math.Abs(a.Rate-a.Mean))
	})
	for i, d := range s.Departures() {
		if want := all[i]; d.Bag != want.Bag || d.Class != want.Class || d.Rate != want.Rate {
			t.Errorf("departure %d is %+v, want %+v", i, d, want)
		}
	}
	if n := len(s.Departures()); n != most {
		t.Errorf("%d departures, want %d", n, most)
	}
}

func TestSpreads_OfCertainAndOfEqualRates(t *testing.T) {
	s := NewSpreads(3, 2)
	for bag := range 4 {
		s.Add(bag, []float32{0, 1, .25})
	}
	for c, want := range []float64{0, 1, .25} {
		got := s.Of(c)
		if got.Mean != want || got.SD != 0 || got.Quantiles[0] != want || got.Quantiles[4] != want {
			t.Errorf("class %d: %+v, want %g everywhere", c, got, want)
		}
	}
	if d := s.Departures(); len(d) != 0 {
		t.Errorf("rates that are the same in all bags depart: %v", d)
	}
	none := NewSpreads(1, 0)
	none.Add(0, []float32{.1})
	none.Add(1, []float32{.9})
	if d := none.Departures(); len(d) != 0 {
		t.Errorf("%d departures where none is wanted", len(d))
	}
}
