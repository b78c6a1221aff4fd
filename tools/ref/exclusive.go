package ref

import "math"

// Exclusive is the result of the noise step for one bag whose classes exclude each other.
type Exclusive struct {
	Loss                                float64
	DLogits                             []float64 // for each class, of one instance
	Prob, Observed, Posterior, BagLogit []float64 // for each class
}

// ExclusiveStep is the noise step for one bag of K classes that exclude each other. o are the logits of its
// instances, each of K. t is the K×K transition matrix, the true class first, nil for none. z is the
// distribution of the observed class. Any -1 in it makes the label unknown.
func ExclusiveStep(o [][]float64, t []float64, z []float64) Exclusive {
	k := len(z)
	b := make([]float64, k)
	for _, instance := range o {
		for y, v := range instance {
			b[y] += v / float64(len(o))
		}
	}
	logP, log1mP := make([]float64, k), make([]float64, k)
	all := math.Inf(-1)
	for _, v := range b {
		all = logAddExp(all, v)
	}
	for y := range k {
		others := math.Inf(-1)
		for i, v := range b {
			if i != y {
				others = logAddExp(others, v)
			}
		}
		logP[y], log1mP[y] = -Softplus(others-b[y]), -Softplus(b[y]-others)
	}
	e := Exclusive{DLogits: make([]float64, k), Prob: make([]float64, k), Observed: make([]float64, k),
		Posterior: make([]float64, k), BagLogit: make([]float64, k)}
	transition := func(y, seen int) float64 {
		switch {
		case t != nil:
			return t[y*k+seen]
		case y == seen:
			return 1
		}
		return 0
	}
	logSeen, unknown := make([]float64, k), false
	for seen := range k {
		logSeen[seen] = math.Inf(-1)
		for y := range k {
			if q := transition(y, seen); q > 0 {
				logSeen[seen] = logAddExp(logSeen[seen], logP[y]+math.Log(q))
			}
		}
		e.Prob[seen], e.BagLogit[seen] = math.Exp(logP[seen]), logP[seen]-log1mP[seen]
		e.Observed[seen] = math.Exp(logSeen[seen])
		unknown = unknown || z[seen] == -1
	}
	if unknown {
		e.Posterior = e.Prob
		return e
	}
	for seen, weight := range z {
		if weight == 0 {
			continue
		}
		e.Loss -= weight * logSeen[seen]
		for y := range k {
			e.Posterior[y] += weight * math.Exp(math.Log(transition(y, seen))+logP[y]-logSeen[seen])
			for j := range k { // s - T_y is the sum over j of p_j (T_j - T_y)
				difference := transition(j, seen) - transition(y, seen)
				if difference != 0 { // the power may be infinite
					e.DLogits[y] += weight * difference * math.Exp(logP[y]+logP[j]-logSeen[seen]) / float64(len(o))
				}
			}
		}
	}
	return e
}
