package report

import (
	"math"

	"nmn/eval"
)

// meanAndSpread returns the mean of the defined values and their sample standard deviation (n-1),
// which is undefined with fewer than two values.
func meanAndSpread(values []eval.Number) (mean, spread eval.Number) {
	sum, n := 0.0, 0
	for _, v := range values {
		if v.Defined() {
			sum += float64(v)
			n++
		}
	}
	if n == 0 {
		return eval.Undefined(), eval.Undefined()
	}
	m := sum / float64(n)
	if n == 1 {
		return eval.Number(m), eval.Undefined()
	}
	squares := 0.0
	for _, v := range values {
		if v.Defined() {
			squares += (float64(v) - m) * (float64(v) - m)
		}
	}
	return eval.Number(m), eval.Number(math.Sqrt(squares / float64(n-1)))
}
