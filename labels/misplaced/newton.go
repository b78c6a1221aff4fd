package misplaced

// newton sums the derivatives of the logarithm of a likelihood by alpha and beta, where alpha o + beta is a logit.
type newton struct {
	a, b       float64 // first ones
	aa, ab, bb float64 // second ones, negated
}

// add adds one term: the observed value minus the expected one, and the variance of that.
func (n *newton) add(error, curvature, o float64) {
	n.a += error * o
	n.b += error
	n.aa += curvature * o * o
	n.ab += curvature * o
	n.bb += curvature
}

// plus adds the sums of another block.
func (n *newton) plus(o *newton) {
	n.a += o.a
	n.b += o.b
	n.aa += o.aa
	n.ab += o.ab
	n.bb += o.bb
}

// step makes one Newton step. It makes none if the second derivatives do not belong to a maximum.
func (n *newton) step(alpha, beta *float64) {
	det := n.aa*n.bb - n.ab*n.ab
	if !(det > 0) {
		return
	}
	*alpha += (n.bb*n.a - n.ab*n.b) / det
	*beta += (n.aa*n.b - n.ab*n.a) / det
}
