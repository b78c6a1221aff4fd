package ref

import "math"

// Asymmetric is NoiseStep without a noise model, with the loss of Ridnik et al. (2021) in place of the
// cross-entropy,
//
//	L = - z (1-p)^positive log p - (1-z) m^negative log(1-m),  m = max(p - margin, 0).
func Asymmetric(o []float64, z, positive, negative, margin float64, mil bool) Step {
	step := NoiseStep(o, nil, z, mil)
	if z == -1 {
		return step
	}
	b := joinBag(o, mil)
	p, q := math.Exp(b.logP), math.Exp(b.log1mP)
	step.Loss = z * math.Pow(q, positive) * -b.logP
	db := z * (positive*math.Pow(q, positive)*p*b.logP - math.Pow(q, positive+1)) // with dp/db = p q
	if m := p - margin; m > 0 {
		log1mM, ratio := math.Log(q+margin), q/(q+margin) // (1-p)/(1-m)
		if margin == 0 {
			log1mM, ratio = b.log1mP, 1
		}
		weight := (1 - z) * math.Pow(m, negative)
		step.Loss -= weight * log1mM
		db += weight * p * (ratio - negative*q*log1mM/m)
	}
	step.DLogits = b.spread(o, func(logShare float64) float64 { return db * math.Exp(logShare) })
	return step
}

// Evidence is NoiseStep without a noise model for evidence e instead of a label, e = log p(observation | y=1)
// - log p(observation | y=0), with the loss
//
//	L = - log((p e^e + 1-p) / max(1, e^e)),  dL/db = p - rho_1,  rho_1 = sigmoid(b + e).
func Evidence(o []float64, e float64, mil bool) Step {
	step := NoiseStep(o, nil, -1, mil)
	if e == 0 {
		return step
	}
	b := joinBag(o, mil)
	step.Loss = -logAddExp(b.logP+math.Min(e, 0), b.log1mP-math.Max(e, 0))
	step.Posterior = Sigmoid(step.BagLogit + e)
	step.DLogits = b.learn(o, e)
	return step
}

// LargeLosses replaces, among the zero labels of a batch, the count labels with the largest losses
// softplus(o); of equal ones the first. As softplus is increasing, o gives the order.
func LargeLosses(o, z []float64, count int, instead float64) []float64 {
	targets := append([]float64(nil), z...)
	for i := range z {
		if z[i] != 0 || math.IsNaN(o[i]) {
			continue
		}
		before := 0
		for j := range z {
			if z[j] == 0 && (o[j] > o[i] || o[j] == o[i] && j < i) {
				before++
			}
		}
		if before < count {
			targets[i] = instead
		}
	}
	return targets
}
