// Package ref is the oracle of the kernels: each operation in float64, one loop for each index of the printed
// equation, regardless of speed. It shares no code with the product and imports only math, so that an error
// of the product cannot hide in both.
//
// Arrays are flat and row-major. Maps are NHWC and filters KRSC, as in package tensor. Bags are always N+1
// frame offsets: callers spell out one frame a bag. Callers pass matching shapes: a slice that is too short
// panics.
package ref

import "math"

// index4 is the row-major place of element (i, j, k, l) of an a×b×c×d array.
func index4(b, c, d, i, j, k, l int) int { return ((i*b+j)*c+k)*d + l }

// Softplus is log(1 + exp(x)) without overflow.
func Softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Sigmoid is 1/(1 + exp(-x)), with full relative precision for very negative x too.
func Sigmoid(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

// LogSigmoid is log(Sigmoid(x)).
func LogSigmoid(x float64) float64 { return -Softplus(-x) }

// logAddExp is log(exp(a) + exp(b)).
func logAddExp(a, b float64) float64 {
	high, low := math.Max(a, b), math.Min(a, b)
	if math.IsInf(high, -1) {
		return high
	}
	return high + math.Log1p(math.Exp(low-high))
}

// Central returns the central difference of f along element i of x, with the step h; x is restored.
func Central(f func() float64, x []float64, i int, h float64) float64 {
	kept := x[i]
	x[i] = kept + h
	up := f()
	x[i] = kept - h
	down := f()
	x[i] = kept
	return (up - down) / (2 * h)
}

// Dot is the sum of products: with a given upstream gradient it makes a scalar of an output.
func Dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
