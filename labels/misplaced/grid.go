package misplaced

import "math"

// The evidence of captions that do not mention a word depends on the total vote x of those captions: a sum of
// probabilities, from 0 to the number of captions. The joint evidence of many words is computed at the nodes
// of a grid in log(1+x), which is fine if few captions agree, and interpolated between them.
const nodesPerUnit = 12

// node is the number of votes at node j; it may be negative below the first.
func nodeVotes(j int) float64 { return math.Expm1(float64(j-1) / nodesPerUnit) }

// gridNodes is how many nodes reach beyond x votes, with one on each side for the interpolation.
func gridNodes(x float64) int { return int(math.Log1p(x)*nodesPerUnit) + 4 }

// lagrange holds the weights of four grid nodes, from at on, in cubic interpolation.
type lagrange struct {
	at     int
	weight [4]float64
}

// interpolation finds the weights for x votes, which must not be negative.
func interpolation(x float64) lagrange {
	u := math.Log1p(x) * nodesPerUnit
	at := int(u)
	t := u - float64(at) // between the second and the third node
	return lagrange{at: at, weight: [4]float64{
		-t * (t - 1) * (t - 2) / 6,
		(t + 1) * (t - 1) * (t - 2) / 2,
		-(t + 1) * t * (t - 2) / 2,
		(t + 1) * t * (t - 1) / 6,
	}}
}

func (l *lagrange) of(values []float64) float64 {
	v := values[l.at : l.at+4]
	return l.weight[0]*v[0] + l.weight[1]*v[1] + l.weight[2]*v[2] + l.weight[3]*v[3]
}
