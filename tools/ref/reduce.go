package ref

import "math"

// BFloat16 rounds x to the nearest number of 8 significant bits, of two to the one whose last bit is 0. x
// must be a normal number of float32.
func BFloat16(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(fraction, 8)), exponent-8)
}

// SumOverRanks is the sum of the ranks' numbers, element by element, and of their magnitudes. If round is not
// nil, it rounds the numbers before, and their sum.
func SumOverRanks(given [][]float64, round func(float64) float64) (sums, magnitudes []float64) {
	sums, magnitudes = make([]float64, len(given[0])), make([]float64, len(given[0]))
	for i := range sums {
		for _, theirs := range given {
			x := theirs[i]
			if round != nil {
				x = round(x)
			}
			sums[i] += x
			magnitudes[i] += math.Abs(x)
		}
		if round != nil {
			sums[i] = round(sums[i])
		}
	}
	return sums, magnitudes
}
