package rates

import "math"

// nodes stand for rows with the same label in sums over smooth functions of their logits:
//
//	sum over rows i of f(x_i)  =  sum over nodes j of w_j f(x_j)
//
// If there are few rows, each is its own node. Otherwise the rows within a bin of a quarter logit are
// replaced by the zeros of the Chebyshev polynomial T_m in it, and w_j are the weights of interpolation at
// these: with t_i in -1 to 1 the positions of the rows in the bin and t_j the positions of the nodes,
//
//	w_j = 1/m sum over i of (1 + 2 sum over 0<k<m of T_k(t_i) T_k(t_j))
//
// which is exact for polynomials of a degree below m. The sums of EM are made of sigmoid(a x + b + const), whose
// nearest singularity lies π/a away from the real axis; the error falls with the power m of that distance over half
// the width of a bin: about 1e-16 for a = 1, 1e-12 for a = 3, 1e-8 at maxSlope.
type nodes struct{ x, w []float64 }

const (
	manyRows     = 4096 // up to this number, each row is a node
	nodesPerBin  = 10
	binsPerLogit = 4
	nodeRange    = 64 // logits; rows beyond are nodes
	nodeBins     = 2 * nodeRange * binsPerLogit
)

// binOfNode is the bin of a logit and its place in it, from -1 to 1; the bin is negative beyond nodeRange.
func binOfNode(x float64) (bin int, t float64) {
	if !(x > -nodeRange && x < nodeRange) {
		return -1, 0
	}
	at := (x + nodeRange) * binsPerLogit
	bin = int(at)
	return bin, 2*(at-float64(bin)) - 1
}

// nodesOf makes nodes of logits.
func nodesOf(logits []float32) nodes {
	if len(logits) <= manyRows {
		n := nodes{make([]float64, len(logits)), make([]float64, len(logits))}
		for i, o := range logits {
			n.x[i], n.w[i] = float64(o), 1
		}
		return n
	}
	var counts [nodeBins]int32
	for _, o := range logits {
		if bin, _ := binOfNode(float64(o)); bin >= 0 {
			counts[bin]++
		}
	}
	var n nodes
	moments := make([][nodesPerBin]float64, nodeBins)
	for _, o := range logits {
		x := float64(o)
		bin, t := binOfNode(x)
		if bin < 0 || counts[bin] <= nodesPerBin {
			n.x, n.w = append(n.x, x), append(n.w, 1)
			continue
		}
		m := &moments[bin]
		before, this := 1.0, t
		m[0]++
		for k := 1; k < nodesPerBin; k++ {
			m[k] += this
			before, this = this, 2*t*this-before
		}
	}
	places, polynomials := chebyshev()
	for bin := range moments {
		if counts[bin] > nodesPerBin {
			n.add(bin, &moments[bin], &places, &polynomials)
		}
	}
	return n
}

// add appends the nodes of a bin, given the sums of T_k over its rows.
func (n *nodes) add(bin int, moments, places *[nodesPerBin]float64, polynomials *[nodesPerBin][nodesPerBin]float64) {
	for j, t := range places {
		sum := moments[0] / 2
		for k := 1; k < nodesPerBin; k++ {
			sum += moments[k] * polynomials[j][k]
		}
		n.x = append(n.x, (float64(bin)+(t+1)/2)/binsPerLogit-nodeRange)
		n.w = append(n.w, 2*sum/nodesPerBin)
	}
}

// chebyshev returns the zeros of T_m and T_k at each of them.
func chebyshev() (places [nodesPerBin]float64, polynomials [nodesPerBin][nodesPerBin]float64) {
	for j := range places {
		angle := math.Pi * (float64(j) + .5) / nodesPerBin
		places[j] = math.Cos(angle)
		for k := range polynomials[j] {
			polynomials[j][k] = math.Cos(float64(k) * angle)
		}
	}
	return places, polynomials
}
