package noise

import (
	"fmt"
	"math"

	"nmn/kernels/simd"
)

// checkEvidence checks evidence N×K: any finite number.
func checkEvidence(operation string, evidence []float32, classes int) error {
	for i, v := range evidence {
		if !(math.Abs(float64(v)) <= math.MaxFloat32) { // NaN too
			return fmt.Errorf("%s: evidence of bag %d, class %d is %g: want a finite number, 0 if nothing is known: "+
				"%w",
				operation, i/classes, i%classes, v, ErrLabel)
		}
	}
	return nil
}

// witnessed decides by evidence, the log-likelihood ratio of the observation.
//
// Evidence for the class makes the loss -log(p1 + p0 exp(-|evidence|)), evidence against it the same with p1
// and p0 exchanged. favoured is the probability that the evidence supports, and against is the other one.
func (d *decision) witnessed(e pooled, evidence float64) {
	switch {
	case evidence == 0:
		d.unknown(e)
		return
	case !e.plain():
		d.witnessedExtreme(e.b(), evidence)
		return
	}
	weight, rest := discount(math.Abs(evidence))
	*d = decision{p: e.p1, observed: e.p1}
	if evidence > 0 {
		inverse := 1 / (e.p1 + e.p0*weight)
		excess := e.p0 * rest * inverse
		d.posterior, d.loss, d.dLogit = e.p1*inverse, lossSum{excess: excess}, -e.p1*excess
	} else { // NaN too
		inverse := 1 / (e.p0 + e.p1*weight)
		excess := e.p1 * rest * inverse
		d.posterior, d.loss, d.dLogit = e.p1*weight*inverse, lossSum{excess: excess}, e.p0*excess
	}
}

// witnessedExtreme is witnessed for a bag's logit b whose probabilities underflow: the same in logarithms.
func (d *decision) witnessedExtreme(b, evidence float64) {
	p1, p0 := logistic(b)
	rho1, rho0 := logistic(b + evidence)
	*d = decision{p: p1, observed: p1, posterior: rho1}
	toward := math.Copysign(1, evidence) * b // log-odds of the supported value
	nats := -logAddExp(-softplus(-toward), -math.Abs(evidence)-softplus(toward))
	d.loss = lossSum{nats: max(0, nats)}
	if evidence > 0 { // p1 - rho_1 in forms without cancellation
		d.dLogit = rho1 * p0 * math.Expm1(-evidence)
	} else {
		d.dLogit = -p1 * rho0 * math.Expm1(evidence)
	}
}

// discount is exp(-x) and 1-exp(-x) for x of at least 0, each with its own digits.
func discount(x float64) (weight, rest float64) {
	if x < .5 {
		rest = -math.Expm1(-x)
		return 1 - rest, rest
	}
	weight = simd.ExpNegative(-x)
	return weight, 1 - weight
}
