package noise

import "math"

// pooled is the evidence of a bag's instances for one class.
type pooled struct {
	p1, p0 float64 // p(y=1|I) and p(y=0|I): 1 - p1 would lose the digits of a small p0
	logit  float64 // log p1/p0, if known
	known  bool    // always if one of the probabilities is not plain
}

// pooledLogit returns the instances' result for a bag with logit b.
func pooledLogit(b float64) pooled {
	p1, p0 := logistic(b)
	return pooled{p1: p1, p0: p0, logit: b, known: true}
}

// Probabilities above plainLow and confidences within plainRange go through the direct formulae: with them
// no product of three probabilities leaves the range of float64. The others are decided in logarithms.
const (
	plainRange = 200
	plainLow   = 1e-87
)

// plain is false for NaN too.
func (e pooled) plain() bool { return e.p1 > plainLow && e.p0 > plainLow }

// b is the bag's logit.
func (e pooled) b() float64 {
	if e.known {
		return e.logit
	}
	return math.Log(e.p1 / e.p0)
}

// decision holds the contribution of one class of one bag: all values that follow from its instances, its
// label z and its four confidences. It is computed per (bag, class) and in float64. The loops over instances
// are elsewhere.
type decision struct {
	p         float64    // p(y=1|I)
	observed  float64    // p(z=1|I)
	posterior float64    // rho_1 = p(y=1|z,I)
	loss      lossSum    // -log p(z|I)
	dLogit    float64    // dLoss/db = p1 - rho_1
	dO        [2]float64 // dLoss/dO_0j; dLoss/dO_1j is its opposite
}

// lossSum is a loss of nats + log(1+excess). Losses are added by their products 1/p(z|I), which are above
// 1: the excess over it, p(z'|I)/p(z|I) with z' the other label, loses no digits of small losses, and
// many classes share one logarithm.
type lossSum struct{ nats, excess float64 }

// foldLoss is far enough from the end of float64 for one more plain class.
const foldLoss = 1e100

func (l *lossSum) add(x lossSum) {
	l.nats += x.nats
	l.excess += x.excess + x.excess*l.excess
	if l.excess > foldLoss {
		*l = lossSum{nats: l.total()}
	}
}

func (l lossSum) total() float64 { return l.nats + math.Log1p(l.excess) }

// transition is the noise model of one class by its two log-odds a_j = O_1j - O_0j, so that q_1j =
// sigmoid(a_j) and q_0j = sigmoid(-a_j). A softmax of two values depends on their difference alone. Taking
// the difference first keeps it exact for large confidences.
type transition struct{ a0, a1 float64 }

// without decides by the loss without a noise model.
func (d *decision) without(e pooled, z float64, p *StepParams) {
	switch {
	case p.Evidence:
		d.witnessed(e, z)
	case z == Unknown:
		d.unknown(e)
	case p.Asymmetric == AsymmetricLoss{}:
		d.clean(e, z)
	default:
		d.focused(e, z, p.Asymmetric)
	}
}

// unknown decides without a label: loss and gradient are 0, or NaN if the probability is.
func (d *decision) unknown(e pooled) {
	*d = decision{p: e.p1, observed: e.p1, posterior: e.p1, loss: lossSum{nats: 0 * e.p1}, dLogit: 0 * e.p1}
}

// unknownNoisy is unknown with a noise model, which predicts the label.
func (d *decision) unknownNoisy(e pooled, m transition) {
	d.noisy(e, m, 0)
	d.posterior, d.loss, d.dLogit = d.p, lossSum{nats: 0 * d.observed}, 0*d.observed
	d.dO = [2]float64{0 * d.observed, 0 * d.observed}
}

// clean decides by cross-entropy against the target z in [0, 1].
func (d *decision) clean(e pooled, z float64) {
	*d = decision{
		p: e.p1, observed: e.p1, posterior: z, loss: cleanLoss(e, z),
		dLogit: (1-z)*e.p1 - z*e.p0, // p - z without its cancellation
	}
}

func cleanLoss(e pooled, z float64) lossSum {
	switch {
	case !e.plain():
		b := e.b()
		return lossSum{nats: z*softplus(-b) + (1-z)*softplus(b)}
	case z == 1:
		return lossSum{excess: e.p0 / e.p1}
	case z == 0:
		return lossSum{excess: e.p1 / e.p0}
	}
	return lossSum{nats: z*math.Log1p(e.p0/e.p1) + (1-z)*math.Log1p(e.p1/e.p0)}
}

// noisy decides by the loss with a noise model; z is 0 or 1.
func (d *decision) noisy(e pooled, m transition, z float64) {
	if !(e.plain() && math.Abs(m.a0) < plainRange && math.Abs(m.a1) < plainRange) {
		d.extreme(e.b(), m, z) // NaN too
		return
	}
	p1, p0 := e.p1, e.p0
	q10, q00 := logistic(m.a0)
	q11, q01 := logistic(m.a1)
	d.p, d.observed = p1, q10*p0+q11*p1

	// hit[j] = q_zj, miss[j] = 1 - q_zj.
	hit0, miss0, hit1, miss1 := q10, q00, q11, q01
	if z == 0 {
		hit0, miss0, hit1, miss1 = miss0, hit0, miss1, hit1
	}
	inverse := 1 / (hit0*p0 + hit1*p1) // 1/p(z|I)
	rho0, rho1 := hit0*p0*inverse, hit1*p1*inverse
	d.posterior, d.loss = rho1, lossSum{excess: (miss0*p0 + miss1*p1) * inverse}

	// p1 - rho_1 = p0·p1·(q_z0 - q_z1)/p(z|I). The difference is taken between the smaller pair, so that it
	// does not cancel if both are near 1.
	difference := hit0 - hit1
	if hit0+hit1 > 1 {
		difference = miss1 - miss0
	}
	d.dLogit = p0 * p1 * difference * inverse
	d.setConfidence(rho0, rho1, miss0, miss1, z)
}

// extreme is noisy for logits or confidences whose probabilities underflow: the same in
// logarithms.
func (d *decision) extreme(b float64, m transition, z float64) {
	p1, _ := logistic(b)
	q10, q00 := logistic(m.a0)
	q11, q01 := logistic(m.a1)
	d.p = p1
	d.observed = math.Exp(logAddExp(-softplus(-m.a0)-softplus(b), -softplus(-m.a1)-softplus(-b)))

	sign, miss0, miss1 := 1.0, q00, q01
	if z == 0 {
		sign, miss0, miss1 = -1, q10, q11
	}
	logHit0, logHit1 := -softplus(-sign*m.a0), -softplus(-sign*m.a1) // log q_zj
	d.loss = lossSum{nats: max(0, -logAddExp(logHit0-softplus(b), logHit1-softplus(-b)))}

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
}

// setConfidence sets dLoss/dO_0j of dLoss/dO_ij = -rho_j (delta_iz - q_ij). The entries of a column are
// opposite, and the one of the observed label needs 1 - q_zj, which is the other probability.
func (d *decision) setConfidence(rho0, rho1, miss0, miss1, z float64) {
	g0, g1 := rho0*miss0, rho1*miss1
	if z == 0 {
		g0, g1 = -g0, -g1
	}
	d.dO = [2]float64{g0, g1}
}

// observe is noisy without a label: the probabilities alone.
func (d *decision) observe(e pooled, m transition) {
	q10, _ := logistic(m.a0)
	q11, _ := logistic(m.a1)
	*d = decision{p: e.p1, observed: q10*e.p0 + q11*e.p1}
}
