package labels

// Logistic sums up a Newton step of a logistic regression on one score o, with the logit a o + b: the gradient of the
// log likelihood by a and b, and its negated second derivatives.
type Logistic struct{ A, B, AA, AB, BB float64 }

// Add adds one term: the observed value minus the expected one, and the variance of the expected one.
func (l *Logistic) Add(gap, variance, o float64) {
	l.A += gap * o
	l.B += gap
	scaled := variance * o
	l.AA += scaled * o
	l.AB += scaled
	l.BB += variance
}

// Plus adds other sums.
func (l *Logistic) Plus(o *Logistic) {
	l.A += o.A
	l.B += o.B
	l.AA += o.AA
	l.AB += o.AB
	l.BB += o.BB
}

// Step returns the Newton step of a and b. It is 0 if the second derivatives do not belong to a maximum.
func (l *Logistic) Step() (da, db float64) {
	det := l.AA*l.BB - l.AB*l.AB
	if !(det > 0) {
		return 0, 0
	}
	return (l.BB*l.A - l.AB*l.B) / det, (l.AA*l.B - l.AB*l.A) / det
}

// Largest is the place of the largest value, the first of several.
func Largest[T float32 | float64](values []T) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}
