package noise

import "math"

// decision holds what one class of one bag contributes: everything that follows from its bag logit
// b, its label z and its four confidences. Per (bag, class) and in float64; the loops over
// instances are elsewhere.
type decision struct {
	p         float64 // p(y=1|I) = sigmoid(b)
	observed  float64 // p(z=1|I)
	posterior float64 // rho_1 = p(y=1|z,I)
	loss      float64 // -log p(z|I)
	dLogit    float64 // dLoss/db = p1 - rho_1
	dO        [4]float64
}

// transition is the noise model of one class by its two log-odds a_j = O_1j - O_0j, so that
// q_1j = sigmoid(a_j) and q_0j = sigmoid(-a_j): a softmax of two values depends on their difference
// alone, and taking the difference first keeps it exact however large the confidences are.
type transition struct{ a0, a1 float64 }

// decideClean is the loss without a noise model: cross-entropy against the target z in [0, 1].
func decideClean(b, z float64) decision {
	p, q := logistic(b)
	return decision{
		p: p, observed: p, posterior: z,
		loss:   z*softplus(-b) + (1-z)*softplus(b),
		dLogit: (1-z)*p - z*q, // p - z without its cancellation
	}
}

// plainRange bounds |b| and |a_j| for the direct formulae: with it no product of three probabilities
// leaves the range of float64. Beyond it decideExtreme takes over.
const plainRange = 200

// decideNoisy is the loss with a noise model; z is 0 or 1.
func decideNoisy(b float64, m transition, z float64) decision {
	if !(math.Abs(b) < plainRange && math.Abs(m.a0) < plainRange && math.Abs(m.a1) < plainRange) {
		return decideExtreme(b, m, z) // NaN too
	}
	p1, p0 := logistic(b)
	q10, q00 := logistic(m.a0)
	q11, q01 := logistic(m.a1)
	d := decision{p: p1, observed: q10*p0 + q11*p1}

	// hit[j] = q_zj, miss[j] = 1 - q_zj.
	hit0, miss0, hit1, miss1 := q10, q00, q11, q01
	if z == 0 {
		hit0, miss0, hit1, miss1 = miss0, hit0, miss1, hit1
	}
	s := hit0*p0 + hit1*p1 // p(z|I)
	rho0, rho1 := hit0*p0/s, hit1*p1/s
	d.posterior, d.loss = rho1, max(0, -math.Log(s)) // s may round to above 1

	// p1 - rho_1 = p0·p1·(q_z0 - q_z1)/s. The difference is taken between the smaller pair, so that
	// it does not cancel where both are near 1.
	difference := hit0 - hit1
	if hit0+hit1 > 1 {
		difference = miss1 - miss0
	}
	d.dLogit = p0 * p1 * difference / s
	d.setConfidence(rho0, rho1, miss0, miss1, z)
	return d
}

// decideExtreme is decideNoisy for logits or confidences whose probabilities underflow: the same in
// logarithms.
func decideExtreme(b float64, m transition, z float64) decision {
	p1, _ := logistic(b)
	q10, q00 := logistic(m.a0)
	q11, q01 := logistic(m.a1)
	d := decision{p: p1}
	d.observed = math.Exp(logAddExp(-softplus(-m.a0)-softplus(b), -softplus(-m.a1)-softplus(-b)))

	sign, miss0, miss1 := 1.0, q00, q01
	if z == 0 {
		sign, miss0, miss1 = -1, q10, q11
	}
	logHit0, logHit1 := -softplus(-sign*m.a0), -softplus(-sign*m.a1) // log q_zj
	d.loss = max(0, -logAddExp(logHit0-softplus(b), logHit1-softplus(-b)))

	l := logHit1 - logHit0
	rho1, rho0 := logistic(b + l)
	d.posterior = rho1
	if l <= 0 { // p1 - rho_1 in forms without cancellation
		d.dLogit = -p1 * rho0 * math.Expm1(l)
	} else {
		_, p0 := logistic(b)
		d.dLogit = rho1 * p0 * math.Expm1(-l)
	}
	d.setConfidence(rho0, rho1, miss0, miss1, z)
	return d
}

// setConfidence sets dLoss/dO_ij = -rho_j (delta_iz - q_ij), stored [i][j]. The entries of a column
// are opposite, and the one of the observed label needs 1 - q_zj, which is the other probability.
func (d *decision) setConfidence(rho0, rho1, miss0, miss1, z float64) {
	g0, g1 := rho0*miss0, rho1*miss1
	if z == 0 {
		g0, g1 = -g0, -g1
	}
	d.dO = [4]float64{g0, g1, -g0, -g1}
}

// observe is decideNoisy without a label: the probabilities alone.
func observe(b float64, m transition) decision {
	p1, p0 := logistic(b)
	q10, _ := logistic(m.a0)
	q11, _ := logistic(m.a1)
	return decision{p: p1, observed: q10*p0 + q11*p1}
}
