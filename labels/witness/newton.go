package witness

import "slices"

// newton sums the derivatives of the logarithm of a likelihood by alpha and beta, where alpha o + beta is a logit.
type newton struct {
	a, b       float64 // first ones
	aa, ab, bb float64 // second ones, negated
}

// add takes one term: what is observed less what is expected, and the variance of that.
func (n *newton) add(error, curvature, o float64) {
	n.a += error * o
	n.b += error
	n.aa += curvature * o * o
	n.ab += curvature * o
	n.bb += curvature
}

// appendNewtons appends the sums of all classes to numbers.
func appendNewtons(numbers []float64, of []newton) []float64 {
	numbers = slices.Grow(numbers, len(of)*newtonSums)
	for i := range of {
		n := &of[i]
		numbers = append(numbers, n.a, n.b, n.aa, n.ab, n.bb)
	}
	return numbers
}

// newtonSums is how many numbers are those of one class.
const newtonSums = 5

// readNewtons sets the sums of all classes from numbers.
func readNewtons(of []newton, numbers []float64) {
	for i := range of {
		n := numbers[i*newtonSums:][:newtonSums]
		of[i] = newton{n[0], n[1], n[2], n[3], n[4]}
	}
}

// step is one of Newton's. It goes nowhere where the second derivatives are not those of a maximum.
func (n *newton) step(alpha, beta *float64) {
	det := n.aa*n.bb - n.ab*n.ab
	if !(det > 0) {
		return
	}
	*alpha += (n.bb*n.a - n.ab*n.b) / det
	*beta += (n.aa*n.b - n.ab*n.a) / det
}
