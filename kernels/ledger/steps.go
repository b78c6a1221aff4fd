package ledger

import (
	"fmt"
	"math"

	"nmn/kernels/activation"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/tensor"
)

// ReLU implements activation.Ops.
func (l *Ledger) ReLU(y, x *tensor.Tensor) error {
	if err := activation.Fit("relu", y, x); err != nil || x.Len() == 0 {
		return err
	}
	l.launch(Rest, typed("relu", x), some(x), some(y))
	return nil
}

// ReLUGrad implements activation.Ops.
func (l *Ledger) ReLUGrad(dx, dy, y *tensor.Tensor) error {
	if err := activation.Fit("gradient of relu", dx, dy, y); err != nil || y.Len() == 0 {
		return err
	}
	l.launch(Masks, typed("relu_gradient", y), some(dy, y), some(dx))
	return nil
}

// Dropout implements activation.Ops.
func (l *Ledger) Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error {
	return l.drop("dropout", y, x, keys, seed, rate)
}

// DropoutGrad implements activation.Ops.
func (l *Ledger) DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error {
	return l.drop("gradient of dropout", dx, dy, keys, seed, rate)
}

func (l *Ledger) drop(operation string, out, in, keys, seed *tensor.Tensor, rate float32) error {
	if _, err := activation.FitDropout(operation, out, in, keys, seed, rate); err != nil {
		return err
	}
	l.launch(Rest, typed("dropout", in), some(in, keys, seed), some(out))
	return nil
}

// Normalize implements pixels.Ops. A launch writes 2^31 elements at most.
func (l *Ledger) Normalize(x, from, sizes, flips *tensor.Tensor, p pixels.Params) error {
	const most = min(1<<31, math.MaxInt)
	g, err := pixels.Fit(x, from, sizes, flips, p)
	if err != nil || x.Len() == 0 {
		return err
	}
	frame := g.H * g.W * g.C
	if frame > most {
		return fmt.Errorf("normalize: a frame of %d elements is more than a launch can have: %w", frame, tensor.ErrShape)
	}
	frames := most / frame
	for first := 0; first < g.T; first += frames {
		share := min(frames, g.T-first)
		part := func(t *tensor.Tensor) int { return bytesOf(some(t)) / g.T * share }
		l.launches = append(l.launches, Launch{Kernel: typed("normalize", x), Part: Rest,
			Read: part(from) + part(sizes) + part(flips), Written: part(x)})
	}
	return nil
}

// NoiseStep implements noise.Ops: one launch, four classes a thread where rows are at multiples of 16 bytes.
func (l *Ledger) NoiseStep(out noise.StepOutput, logits, confidence, labels, bags *tensor.Tensor,
	p noise.StepParams) error {
	g, err := noise.FitStep(out, logits, confidence, labels, bags, p)
	if err != nil {
		return err
	}
	l.launch(Rest, widened("noise_step", g.K, logits, out.DLogits), some(logits, confidence, labels, bags),
		some(out.Loss, out.DLogits, out.DO, out.Prob, out.Observed, out.Posterior, out.BagLogit))
	return nil
}

// widened is the name of a kernel that takes four classes at a time where all rows allow it.
func widened(kernel string, classes int, tensors ...*tensor.Tensor) string {
	for _, t := range tensors {
		if t != nil && (classes%4 != 0 || t.Address()%16 != 0) {
			return kernel
		}
	}
	return kernel + "_wide"
}

// NoisyOR implements noise.Ops.
func (l *Ledger) NoisyOR(p, o, bags *tensor.Tensor) error {
	g, err := noise.FitNoisyOR("noisy-or", nil, p, o, bags)
	if err != nil {
		return err
	}
	l.launch(Rest, widened("noisy_or", g.K, o), some(o, bags), some(p))
	return nil
}

// NoisyORGrad implements noise.Ops.
func (l *Ledger) NoisyORGrad(do, dp, o, bags *tensor.Tensor) error {
	g, err := noise.FitNoisyOR("gradient of noisy-or", do, dp, o, bags)
	if err != nil {
		return err
	}
	l.launch(Rest, widened("noisy_or", g.K, o, do), some(dp, o, bags), some(do))
	return nil
}

// BCE implements noise.Ops.
func (l *Ledger) BCE(loss, do, o, z *tensor.Tensor, _ float32) error {
	if _, _, err := noise.FitBCE(loss, do, o, z); err != nil {
		return err
	}
	l.launch(Rest, "bce", some(o, z), some(loss, do))
	return nil
}

// LargeLosses implements noise.Ops.
func (l *Ledger) LargeLosses(targets, o, z, count *tensor.Tensor, _ float32) error {
	if _, _, err := noise.FitLargeLosses(targets, o, z, count); err != nil {
		return err
	}
	l.launch(Rest, "large_losses", some(o, z, count), some(targets))
	return nil
}
