package ref

import "math"

// BFloat16 is the number of 8 significant bits that is nearest to x, of two the one whose last bit is 0. Of what
// float32 holds as normal numbers.
func BFloat16(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	fraction, exponent := math.Frexp(x)
	return math.Ldexp(math.RoundToEven(math.Ldexp(fraction, 8)), exponent-8)
}

// SumOverRanks is the sum of what each rank gives, element by element, and of their magnitudes. Where round is not nil,
// the numbers are rounded by it before, and so is their sum.
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
