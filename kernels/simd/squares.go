package simd

// SumSquares returns the sum of squares, in float64: eight sums over the elements whose numbers leave the
// same rest of a division by 8, added in halves. It is equal in every bit at all levels.
func (l Level) SumSquares(x []float32) float64 {
	var sums [8]float64
	groups := len(x) / len(sums)
	if k := table[l].sumSquares; k == nil {
		sums = sumSquaresGeneric(x, groups)
	} else if groups > 0 {
		sums = k(at(x), groups)
	}
	for i, v := range x[8*groups:] {
		sums[i] += float64(v) * float64(v)
	}
	return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

// sumSquaresGeneric sums groups of eight.
func sumSquaresGeneric(x []float32, groups int) [8]float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for rest := x[:8*groups]; len(rest) >= 8; rest = rest[8:] {
		a, b, c, d := float64(rest[0]), float64(rest[1]), float64(rest[2]), float64(rest[3])
		s0, s1, s2, s3 = s0+a*a, s1+b*b, s2+c*c, s3+d*d
		a, b, c, d = float64(rest[4]), float64(rest[5]), float64(rest[6]), float64(rest[7])
		s4, s5, s6, s7 = s4+a*a, s5+b*b, s6+c*c, s7+d*d
	}
	return [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}
