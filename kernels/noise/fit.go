package noise

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"nmn/kernels/tensor"
)

// geometry is the checked shape of an operation on bags, in the letters of package tensor.
type geometry struct {
	N, T, H, W, K int
	// PerBag reports whether the confidence map differs from bag to bag: N×2×2×K.
	PerBag bool
}

// Cells is the number of instances of one frame.
func (g geometry) Cells() int { return g.H * g.W }

// ErrAsymmetric is wrapped by errors about the parameters of the asymmetric loss.
var ErrAsymmetric = errors.New("asymmetric loss out of range")

// fitStep checks the tensors of NoiseStep against each other, and its parameters, for every device. It does
// not read the offsets in bags nor the labels.
func fitStep(out StepOutput, logits, confidence, labels, bags *tensor.Tensor, p StepParams) (geometry, error) {
	const operation = "noise step"
	g, err := fitBags(operation, logits, bags)
	if err != nil {
		return g, err
	}
	if err := p.Asymmetric.check(operation, confidence != nil); err != nil {
		return g, err
	}
	if err := p.checkEvidence(operation, confidence != nil); err != nil {
		return g, err
	}
	if p.Exclusive {
		if err := p.fitExclusive(operation, g, out, confidence); err != nil {
			return g, err
		}
	} else if confidence != nil {
		g.PerBag = confidence.Rank() > 0 && confidence.Dim(0) == g.N
		if !g.PerBag && !confidence.IsFloats(1, 2, 2, g.K) || g.PerBag && !confidence.IsFloats(g.N, 2, 2, g.K) {
			return g, tensor.Misfit(operation, "confidence is %s, want floats %d×2×2×%d or 1×2×2×%d", confidence, g.N, g.K, g.K)
		}
	}
	if out.DO != nil && confidence == nil {
		return g, tensor.Misfit(operation, "the gradient of the confidence needs a confidence")
	}
	if labels == nil && (out.Loss != nil || out.DLogits != nil || out.DO != nil || out.Posterior != nil) {
		return g, tensor.Misfit(operation, "loss, gradients and posterior need labels %d×%d", g.N, g.K)
	}
	if out.DLogits != nil && !(out.DLogits.IsFloats() && tensor.SameShape(out.DLogits, logits)) {
		return g, tensor.Misfit(operation, "gradient of the logits is %s, want the shape of the logits, %s", out.DLogits,
			logits)
	}
	return g, cmp.Or(
		optional(operation, "labels", labels, g.N, g.K),
		optional(operation, "weights", p.Weights, g.N),
		optional(operation, "loss", out.Loss, g.N),
		optional(operation, "gradient of the confidence", out.DO, g.N, 2, 2, g.K),
		optional(operation, "probability", out.Prob, g.N, g.K),
		optional(operation, "observed probability", out.Observed, g.N, g.K),
		optional(operation, "posterior", out.Posterior, g.N, g.K),
		optional(operation, "bag logit", out.BagLogit, g.N, g.K))
}

// fitLargeLosses checks the tensors of LargeLosses. It is the shape rule of every device.
func fitLargeLosses(targets, o, z, count *tensor.Tensor) (n, k int, err error) {
	const operation = "large losses"
	if !o.IsFloats() || o.Rank() != 2 || o.Len() == 0 {
		return 0, 0, tensor.Misfit(operation, "logits are %s, want floats N×K, not empty", o)
	}
	n, k = o.Dim(0), o.Dim(1)
	for _, t := range []*tensor.Tensor{targets, z} {
		if !t.IsFloats(n, k) {
			return 0, 0, tensor.Misfit(operation, "targets are %s and labels %s, want floats %d×%d", targets, z, n, k)
		}
	}
	if count == nil || count.DType() != tensor.Int32 || count.Len() != 1 {
		return 0, 0, tensor.Misfit(operation, "count is %s, want int32 1", count)
	}
	return n, k, nil
}

// check reports an invalid asymmetric loss, and one that is used with a noise model.
func (f AsymmetricLoss) check(operation string, noisy bool) error {
	if f == (AsymmetricLoss{}) {
		return nil
	}
	finite := func(x float32) bool { return x >= 0 && x <= math.MaxFloat32 }
	if !finite(f.Positive) || !finite(f.Negative) || !(f.Margin >= 0 && f.Margin < 1) {
		return fmt.Errorf("%s: exponents %g and %g, margin %g: want exponents of at least 0 and a margin in [0, 1): %w",
			operation, f.Positive, f.Negative, f.Margin, ErrAsymmetric)
	}
	if noisy {
		return fmt.Errorf("%s: the asymmetric loss is one without a noise model: %w", operation, ErrAsymmetric)
	}
	return nil
}

// checkEvidence refuses evidence together with another loss or with a noise model.
func (p StepParams) checkEvidence(operation string, noisy bool) error {
	switch {
	case p.Evidence && noisy:
		return tensor.Misfit(operation, "evidence already includes the trust in labels: leave out the confidence")
	case p.Evidence && p.Asymmetric != (AsymmetricLoss{}):
		return fmt.Errorf("%s: evidence has its own loss, which is not the asymmetric one: %w", operation, ErrAsymmetric)
	}
	return nil
}

// fitExclusive checks what a step has in addition, or must not have, if classes exclude each other.
func (p StepParams) fitExclusive(operation string, g geometry, out StepOutput, transition *tensor.Tensor) error {
	switch {
	case g.K < 2:
		return tensor.Misfit(operation, "%d class: classes that exclude each other are at least two", g.K)
	case p.MIL || p.Evidence || p.Asymmetric != (AsymmetricLoss{}):
		return tensor.Misfit(operation,
			"classes that exclude each other have neither noisy-or nor evidence nor an asymmetric loss")
	case out.DO != nil:
		return tensor.Misfit(operation, "the transition matrix is held and has no gradient")
	}
	return optional(operation, "transition matrix", transition, g.K, g.K)
}

// fitBags checks logits T×h×w×K and N+1 frame offsets. Without offsets N = T.
func fitBags(operation string, logits, bags *tensor.Tensor) (geometry, error) {
	if !logits.IsFloats() || logits.Rank() != 4 || logits.Len() == 0 {
		return geometry{}, tensor.Misfit(operation, "logits are %s, want floats T×h×w×K, not empty", logits)
	}
	n, err := tensor.FitBags(operation, bags, logits.Dim(0))
	return geometry{N: n, T: logits.Dim(0), H: logits.Dim(1), W: logits.Dim(2), K: logits.Dim(3)}, err
}

// optional checks a tensor that may be nil.
func optional(operation, name string, t *tensor.Tensor, shape ...int) error {
	if t == nil || t.IsFloats(shape...) {
		return nil
	}
	return tensor.Misfit(operation, "%s is %s, want floats %s", name, t, tensor.Format(shape))
}
