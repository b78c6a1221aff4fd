// Package noise is the core of nmn: multiple-instance learning, the noise model between true and observed
// labels, the loss and all its gradients, in one pass.
//
// Notation (the paper, section 3): o logits, y true label, z observed label, p1 = p(y=1|I). Transition q_ij =
// p(z=i | y=j, I) = exp(O_ij) / sum over i' of exp(O_i'j). The first index is the observed label, the second
// the true one, and columns j sum to one. q01 is the miss rate p(z=0|y=1), q10 the false-alarm rate
// p(z=1|y=0). O is stored [i][j][class]: 2×2×K.
//
// # Floating point
//
// As printed, the equations overflow and cancel. The CPU decides each class of each bag in float64
// (decide.go), and decide.cuh computes the same on a card. With o the logit of the bag, L = log q_z1 - log
// q_z0 the log-odds of the observed label, and softplus(t) = log(1 + exp t):
//
//   - log q_ij = -softplus(O_(1-i)j - O_ij). The difference comes first, since O itself may be large.
//   - rho_1 = sigmoid(o + L).
//   - dL/do = p1 - rho_1 without cancellation: -sigmoid(o) sigmoid(-(o+L)) expm1(L) for L <= 0, and
//     sigmoid(o+L) sigmoid(-o) expm1(-L) for L > 0.
//   - With evidence, each label has its own L. Let f be the probability of the value that it supports, p1 or p0, and
//     g = 1 - f. The loss is log(1 + x) for x = g (1 - e^-|L|) / (f + g e^-|L|), and |dL/do| = f x.
//   - Noisy-or: p1 = -expm1(-S) with S = sum over s of softplus(o_s). The logit of the bag is S + log(-expm1(-S)),
//     which is finite when p1 rounds to 0 or 1. The gradient of an instance is (p1 - rho_1)/p1 · p_s. For small p1
//     the quotient p_s/p1 is taken in logarithms.
//
// Nothing overflows or becomes NaN for |o| and |E| to 1e4 and |O| to 1e3. The compliance suite tests every
// backend so.
package noise

import "nmn/kernels/tensor"

// StepParams are the constants of a step.
type StepParams struct {
	// MIL joins the instances of a bag by noisy-or: p1 = 1 - prod over s of (1 - sigmoid(o_s)).
	// Otherwise the bag's logit is the mean over its instances.
	MIL bool
	// Scale multiplies dLogits and dO, for example 1/N for the mean over bags. It does not touch Loss.
	Scale float32
	// Weights, N, multiply Loss, DLogits and DO of each bag: finite numbers of at least 0. Nil for weights of 1.
	Weights *tensor.Tensor
	// Asymmetric weights the loss without a noise model. With one it must be zero.
	Asymmetric AsymmetricLoss
	// Evidence is set if labels holds evidence instead of labels. Confidence must then be nil, and Asymmetric
	// zero.
	Evidence bool
	// Exclusive is set if each bag has exactly one of at least two classes. MIL and Evidence must then be
	// false, and Asymmetric zero.
	Exclusive bool
}

// AsymmetricLoss makes of the cross-entropy the asymmetric loss of Ridnik et al., "Asymmetric Loss For Multi-Label
// Classification" (2021), with m the shifted probability of a negative:
//
//	L = - z (1-p)^Positive log p - (1-z) m^Negative log(1-m),  m = max(p - Margin, 0)
//
// The gradient includes the gradient of the weights. The authors' script for MS COCO takes the weights as
// constants. The zero value is the cross-entropy.
type AsymmetricLoss struct {
	Positive, Negative float32 // exponents gamma+ and gamma-, at least 0 and finite
	Margin             float32 // probability in [0, 1) below which a negative has no loss
}

// Unknown marks a label that is not known. It has neither loss nor gradient, also in a noise model.
const Unknown = -1

// StepOutput names the destinations of a step. Each may be nil when it is not wanted, and is overwritten
// otherwise.
type StepOutput struct {
	Loss     *tensor.Tensor // N: loss of each bag, summed over classes, in nats
	DLogits  *tensor.Tensor // as logits, in other memory: Scale · dLoss/do_s
	DO       *tensor.Tensor // N×2×2×K: Scale · dLoss/dO; summed over bags it is the gradient of the bias
	Prob     *tensor.Tensor // N×K: p(y=1|I)
	Observed *tensor.Tensor // N×K: p(z=1|I); equal to Prob without a noise model
	// N×K: rho_1, by label or evidence. Without a noise model it is a copy of labels. It is Prob if the label
	// is unknown.
	Posterior *tensor.Tensor
	BagLogit  *tensor.Tensor // N×K: log p(y=1|I) - log p(y=0|I), finite if Prob rounds to 0 or 1
}

// Ops is the family. bags is as for package pool: N+1 frame offsets, or nil for one frame a bag.
type Ops interface {
	// NoiseStep computes loss and gradients of a batch.
	//
	// logits is T×h×w×K. Its instances are all cells of all frames of a bag. confidence is O: N×2×2×K
	// (feature dependent), 1×2×2×K (the same for all bags), or nil for no noise model. labels is N×K. With a
	// noise model each is 0 or 1, or Unknown. Without one each is any target in [0, 1], or Unknown, or
	// evidence. labels may be nil when Loss, DLogits, DO and Posterior are.
	//
	//	p(z=i|I) = sum over j of q_ij p(y=j|I),  Loss = - sum over classes of log p(z|I)
	//	rho_j = q_zj p(y=j) / p(z)
	//	dL/do = p1 - rho_1,  dL/dO_ij = -rho_j (delta_iz - q_ij)
	//	noisy-or: dL/do_s = (p1 - rho_1)/p1 · p_s
	//
	// Without a noise model rho_1 is the label, and p.Asymmetric may weight the loss. Nothing overflows or
	// becomes NaN for |o| to 1e4 and |O| to 1e3.
	//
	// With p.Evidence an element E of labels is log p(observation | y=1) - log p(observation | y=0), any
	// finite number, and 0 if nothing is known. The noise model is then in the data, L = log q_z1 - log q_z0.
	//
	//	Loss = - sum over classes of log((p1 e^E + 1 - p1) / max(1, e^E))
	//	rho_1 = sigmoid(b + E), b the bag's logit,  dL/db = p1 - rho_1
	//
	// The divisor is constant: it changes no gradient, and keeps the loss finite and at least 0. If E is 0,
	// loss and gradient are 0. If |E| is large, they equal the loss and gradient of the label 1 or 0. Nothing
	// overflows or becomes NaN for |E| to 1e4. Observed is Prob.
	//
	// With p.Exclusive the classes of a bag exclude each other. o are the mean logits of its instances.
	// confidence is the transition matrix T of K×K, T_yk = p(z=k|y), or nil for none. Each of its rows sums to
	// one, and all values are above 0. T is held: DO must be nil. labels of a bag are a distribution over the
	// observed class, usually 1 for one class. If one label of a bag is Unknown, the bag has neither loss nor
	// gradient. BagLogit is log p(y=k|I) - log(1 - p(y=k|I)).
	//
	//	p_y = p(y|I) = softmax_y(o),  s_k = p(z=k|I) = sum over y of T_yk p_y
	//	Loss = - sum over k of z_k log s_k
	//	rho_y = sum over k of z_k T_yk p_y / s_k,  dL/do_y = sum over k of z_k p_y (s_k - T_yk) / s_k
	NoiseStep(out StepOutput, logits, confidence, labels, bags *tensor.Tensor, p StepParams) error
	// LargeLosses copies labels z to targets, but replaces the zero labels of a batch with the largest losses
	// by instead. This is Unknown, which leaves them out (LL-R), or 1, which corrects them (LL-Ct; Kim et
	// al., "Large Loss Matters in Weakly Supervised Multi-Label Classification", 2022). o are the logits of
	// bags, N×K like z and targets. targets may share memory with z. count, int32 1, holds the number of
	// labels to replace. It lies on the device, so that a recorded step can be replayed with another one.
	//
	// The loss of a zero label is softplus(o): the largest losses have the largest logits. Of equal losses
	// the first by bag and class are replaced. The authors' program replaces all losses equal to the last.
	// NaN is never replaced. If fewer labels than count are 0, all of them are replaced, and none for a count
	// below 1.
	LargeLosses(targets, o, z, count *tensor.Tensor, instead float32) error
}
