package noise

import "math"

// focused decides by the asymmetric loss against the target z in [0, 1].
func (d *decision) focused(e pooled, z float64, f AsymmetricLoss) {
	*d = decision{p: e.p1, observed: e.p1, posterior: z}
	if z > 0 {
		loss, slope := e.focusedPositive(float64(f.Positive))
		d.loss.nats, d.dLogit = z*loss, z*slope
	}
	if z < 1 {
		loss, slope := e.focusedNegative(float64(f.Negative), float64(f.Margin))
		d.loss.nats, d.dLogit = d.loss.nats+(1-z)*loss, d.dLogit+(1-z)*slope
	}
}

// focusedPositive is L = -(1-p)^gamma log p and its derivative with respect to the bag's logit,
//
//	dL/db = (1-p)^gamma (gamma p log p - (1-p)),
//
// a sum of two terms with one sign.
func (e pooled) focusedPositive(gamma float64) (loss, slope float64) {
	weight, nats := math.Pow(e.p0, gamma), e.nats(1)
	return weight * nats, -weight * (gamma*e.p1*nats + e.p0)
}

// focusedNegative is L = -m^gamma log(1-m), m = max(p - margin, 0), and its derivative with respect to the
// bag's logit,
//
//	dL/db = p (1-p) m^gamma (1/(1-m) - gamma log(1-m)/m).
//
// 1-m is 1-p + margin, so that (1-p)/(1-m) keeps the digits of a small 1-p.
func (e pooled) focusedNegative(gamma, margin float64) (loss, slope float64) {
	m := e.p1 - margin
	if m <= 0 { // not for NaN
		return 0, 0
	}
	nats, share := e.nats(0), 1.0
	if margin > 0 {
		nats, share = natsOf(e.p0+margin, m), e.p0/(e.p0+margin)
	}
	weight := math.Pow(m, gamma)
	return weight * nats, weight * (gamma*(e.p1/m)*e.p0*nats + e.p1*share)
}

// nats is -log p(y=label|I).
func (e pooled) nats(label int) float64 {
	switch {
	case !e.plain() && label == 1:
		return softplus(-e.b())
	case !e.plain():
		return softplus(e.b())
	case label == 1:
		return natsOf(e.p1, e.p0)
	}
	return natsOf(e.p0, e.p1)
}

// natsOf is -log p. rest is 1-p, which keeps its digits if it is small.
func natsOf(p, rest float64) float64 {
	if rest < .5 {
		return -math.Log1p(-rest)
	}
	return -math.Log(p)
}
