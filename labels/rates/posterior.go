package rates

import "math"

// LabelLogOdds returns L_z = log p(z|y=1) - log p(z|y=0), the evidence of a label for y = 1. Rates are kept
// 1e-6 away from 0 and 1.
func LabelLogOdds(z uint8, q01, q10 float64) float64 {
	m := model{q01: q01, q10: q10}
	l := m.absent()
	if z == 1 {
		l = m.present()
	}
	return math.Log(l.true1) - math.Log(l.true0)
}

// Posterior is rho = p(y=1|z,o) = sigmoid(o + L_z), with o the logit of p(y=1).
func Posterior(o float64, z uint8, q01, q10 float64) float64 {
	return Sigmoid(o + LabelLogOdds(z, q01, q10))
}
