package ref

import "math"

// Step is the result of the noise model for one class of one bag.
type Step struct {
	Loss      float64
	DLogits   []float64     // dLoss/do_s for each instance
	DO        [2][2]float64 // dLoss/dO_ij, i observed, j true; 0 without a noise model
	Prob      float64       // p(y=1|I)
	Observed  float64       // p(z=1|I)
	Posterior float64       // rho_1
	BagLogit  float64       // log p(y=1|I) - log p(y=0|I)
}

// NoiseStep is the paper, section 3, for one class of one bag in forms that neither overflow nor cancel. o
// are the logits of its instances. confidence is O with the observed label first, nil for no noise model. z
// is the observed label (without a noise model a target in [0, 1]). -1 is an unknown label, which gives
// neither loss nor gradient. mil joins the instances by noisy-or, otherwise the bag's logit is their mean.
func NoiseStep(o []float64, confidence *[2][2]float64, z float64, mil bool) Step {
	b := joinBag(o, mil)
	step := Step{Prob: math.Exp(b.logP), BagLogit: b.logP - b.log1mP}
	if z == -1 {
		step.Observed, step.Posterior = step.Prob, step.Prob
		if confidence != nil {
			step.Observed = NoiseStep(o, confidence, 0, mil).Observed
		}
		step.DLogits = make([]float64, len(o))
		return step
	}
	if confidence == nil {
		step.Observed, step.Posterior = step.Prob, z
		step.Loss = -(weighted(z, b.logP) + weighted(1-z, b.log1mP))
		step.DLogits = b.spread(o, func(logShare float64) float64 { // share: do_b/do_s
			return (1-z)*math.Exp(b.logP+logShare) - z*math.Exp(b.log1mP+logShare)
		})
		return step
	}
	var logQ [2][2]float64
	for i := range 2 {
		for j := range 2 {
			logQ[i][j] = -Softplus(confidence[1-i][j] - confidence[i][j])
		}
	}
	seen := int(z)
	logS := logAddExp(logQ[seen][0]+b.log1mP, logQ[seen][1]+b.logP)
	step.Observed = math.Exp(logAddExp(logQ[1][0]+b.log1mP, logQ[1][1]+b.logP))
	step.Loss = -logS
	lz := logQ[seen][1] - logQ[seen][0]
	rho := [2]float64{Sigmoid(-(step.BagLogit + lz)), Sigmoid(step.BagLogit + lz)}
	step.Posterior = rho[1]
	for j := range 2 { // -rho_j (delta_iz - q_ij), with 1 - q_zj = q_(1-z)j
		other := rho[j] * math.Exp(logQ[1-seen][j])
		step.DO[seen][j], step.DO[1-seen][j] = -other, other
	}
	step.DLogits = b.learn(o, lz)
	return step
}

// weighted is w·v with 0·(-Inf) = 0.
func weighted(w, v float64) float64 {
	if w == 0 {
		return 0
	}
	return w * v
}

// bag is log p(y=1|I) and log p(y=0|I) of one class.
type bag struct {
	logP, log1mP float64
	mil          bool
}

func joinBag(o []float64, mil bool) bag {
	if !mil {
		mean := 0.0
		for _, v := range o {
			mean += v / float64(len(o))
		}
		return bag{LogSigmoid(mean), LogSigmoid(-mean), false}
	}
	total, logTotal := 0.0, math.Inf(-1) // Lb = sum of softplus(o_s), and its logarithm
	for _, v := range o {
		total += Softplus(v)
		logTotal = logAddExp(logTotal, logSoftplus(v))
	}
	return bag{log1mExp(total, logTotal), -total, true}
}

// spread returns f(log do_b/do_s) for each instance: 1/S for the mean, p_s/p for noisy-or.
func (b bag) spread(o []float64, f func(logShare float64) float64) []float64 {
	d := make([]float64, len(o))
	for s, v := range o {
		if b.mil {
			d[s] = f(LogSigmoid(v) - b.logP)
		} else {
			d[s] = f(0) / float64(len(o))
		}
	}
	return d
}

// learn is (p1 - rho_1) · do_b/do_s for each instance. ratio is the log-likelihood ratio of the observation.
func (b bag) learn(o []float64, ratio float64) []float64 {
	posterior := b.logP - b.log1mP + ratio // its log-odds
	return b.spread(o, func(logShare float64) float64 {
		if ratio <= 0 {
			return -math.Expm1(ratio) * math.Exp(b.logP+LogSigmoid(-posterior)+logShare)
		}
		return math.Expm1(-ratio) * math.Exp(LogSigmoid(posterior)+b.log1mP+logShare)
	})
}

// logSoftplus is log(log(1 + exp(x))). For very negative x, softplus is exp(x) - exp(2x)/2 + ...
func logSoftplus(x float64) float64 {
	if x < -30 {
		return x - math.Exp(x)/2
	}
	return math.Log(Softplus(x))
}

// log1mExp is log(1 - exp(-l)) = log l - l/2 + l²/24 - ..., for an l that may have underflowed but
// whose logarithm is known.
func log1mExp(l, logL float64) float64 {
	switch {
	case l < 1e-4:
		return logL - l/2 + l*l/24
	case l < math.Ln2:
		return math.Log(-math.Expm1(-l))
	}
	return math.Log1p(-math.Exp(-l))
}
