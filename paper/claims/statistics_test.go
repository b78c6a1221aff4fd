package claims

import (
	"math"
	"testing"

	"nmn/eval"
)

// The expected probabilities come from SciPy 1.17: ttest_1samp, and wilcoxon with correction=True and
// method="asymptotic".
func TestStatistics_AgreeWithSciPy(t *testing.T) {
	for _, test := range []struct {
		of          func([]float64) eval.Number
		differences []float64
		want        float64
	}{
		{tTest, []float64{1.2, .7, 2.2}, .09023569097194743},
		{tTest, []float64{.8, .82, .78}, .00020826825176404064},
		{tTest, []float64{-.3, .1, .2, .4}, .5456274012746513},
		{tTest, []float64{1, -1}, 1},
		{tTest, []float64{2, 2, 2}, 0},
		{signedRank, []float64{1.5, -.5, 2, 3, -1, .5, 4, 2.5, 2, -3, 1, 6}, .05934643879191985},
		{signedRank, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .005921537024148715},
		{signedRank, []float64{0, 0, 1, -1, 2, 3, 4, 5, -6, 7, 8, 9}, .05917104905405068},
	} {
		if got := float64(test.of(test.differences)); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", test.differences, got, test.want)
		}
	}
	if tTest([]float64{3}).Defined() {
		t.Error("one difference has a probability")
	}
	if signedRank([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}).Defined() {
		t.Error("nine differences have a probability by the normal approximation")
	}
}

// SciPy 1.17 gives these numbers by the noncentral t distribution.
func TestSeedsFor_FindsADifferenceInFourOfFiveExperiments(t *testing.T) {
	for _, test := range []struct {
		difference, spread float64
		want               int
	}{
		{1, 1, 10}, {.5, 1, 34}, {.2, .2, 10}, {2, 1, 5}, {.3, 1, 90}, {.2, 1, 199}, {9, 1, FewestSeeds},
		{.01, 1, MostSeeds + 1},
		{0, 1, 0}, {1, 0, 0}, {1, math.NaN(), 0},
	} {
		if got := seedsFor(test.difference, test.spread); got != test.want {
			t.Errorf("a difference of %g ± %g takes %d seeds, want %d", test.difference, test.spread, got, test.want)
		}
	}
}
