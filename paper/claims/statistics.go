package claims

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"nmn/eval"
)

// tTest is the two-sided probability of a mean at least this far from 0 if there is no difference: Student's
// t test of paired differences. It is undefined for fewer than two.
func tTest(differences []float64) eval.Number {
	n := float64(len(differences))
	if n < 2 {
		return eval.Undefined()
	}
	mean, spread := stat.MeanStdDev(differences, nil)
	switch {
	case mean == 0:
		return 1
	case spread == 0:
		return 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	return eval.Number(2 * t.Survival(math.Abs(mean)/spread*math.Sqrt(n)))
}

// MostSeeds is the largest number of seeds that seedsFor considers.
const MostSeeds = 1000

// seedsFor is how many seeds tTest needs to find a difference below significance in four of five experiments, given the
// spread of differences. It is MostSeeds+1 for more than MostSeeds, and 0 if either is 0 or undefined.
func seedsFor(difference, spread float64) int {
	if !(difference > 0 && spread > 0) {
		return 0
	}
	n := FewestSeeds
	for ; n <= MostSeeds; n++ {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
		if difference/spread*math.Sqrt(float64(n)) >= t.Quantile(1-significance/2)+t.Quantile(.8) {
			break
		}
	}
	return n
}

// fewestUnits is the least number of differences for which the normal approximation of the signed-rank test holds.
const fewestUnits = 10

// signedRank is the two-sided probability of Wilcoxon's signed-rank test, by the normal approximation with corrections
// for ties and continuity. Differences of 0 are left out. It is undefined if fewer than fewestUnits remain.
func signedRank(differences []float64) eval.Number {
	d := slices.DeleteFunc(slices.Clone(differences), func(v float64) bool { return v == 0 })
	if len(d) < fewestUnits {
		return eval.Undefined()
	}
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	n, positive, ties := float64(len(d)), 0.0, 0.0
	for first := 0; first < len(d); {
		end := first
		for end < len(d) && math.Abs(d[end]) == math.Abs(d[first]) {
			end++
		}
		rank, same := float64(first+1+end)/2, float64(end-first)
		for _, v := range d[first:end] {
			if v > 0 {
				positive += rank
			}
		}
		ties += same*same*same - same
		first = end
	}
	variance := n*(n+1)*(2*n+1)/24 - ties/48
	distance := math.Max(0, math.Abs(positive-n*(n+1)/4)-.5)
	return eval.Number(2 * distuv.UnitNormal.Survival(distance/math.Sqrt(variance)))
}
