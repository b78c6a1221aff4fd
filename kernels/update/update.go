// Package update changes parameters: SGD with momentum, Adam, AdamW, the clipping of gradients by their
// norm, and the moving average of the parameters, each over all parameters of a net in one call.
package update

import "nmn/kernels/tensor"

// Entry is one parameter with its gradient and optimizer state, all float32 of equal length. An entry with LR
// 0 is left untouched: neither decay nor state changes.
type Entry struct {
	W, G *tensor.Tensor // weight and gradient
	M, V *tensor.Tensor // first moment (SGD: momentum buffer) and second moment (Adam; nil for SGD)
	// Copy receives W in bfloat16 after an update, for a device that computes in it; nil for none. The CPU
	// has no such type and refuses it.
	Copy *tensor.Tensor
	// Average is the moving average of W; nil for none.
	Average *tensor.Tensor
	LR      float32 // learning rate of this step times the parameter's multiplier
	Decay   float32 // weight decay, 0 for none: coupled (L2) but for AdamW
}

// AdamParams are the constants of Adam.
type AdamParams struct {
	Beta1, Beta2, Epsilon float32
	Step                  int // number of this update, from 1: the bias correction's exponent
}

// Ops is the family. Updates do not change G except Clip.
type Ops interface {
	// SGD: g = G + Decay·W; M = momentum·M + g; W = W - LR·M.
	SGD(entries []Entry, momentum float32) error
	// Adam: g = G + Decay·W; M = β1·M + (1-β1)·g; V = β2·V + (1-β2)·g²;
	// W = W - LR · (M/(1-β1^Step)) / (sqrt(V/(1-β2^Step)) + ε).
	Adam(entries []Entry, p AdamParams) error
	// AdamW is Adam with decoupled decay (Loshchilov and Hutter, 2019): M = β1·M + (1-β1)·G;
	// V = β2·V + (1-β2)·G²; W = W - LR·Decay·W - LR · (M/(1-β1^Step)) / (sqrt(V/(1-β2^Step)) + ε).
	AdamW(entries []Entry, p AdamParams) error
	// Average brings the moving averages nearer to the parameters: A = A + share·(W - A), A being
	// Entry.Average, which all entries with LR != 0 must have. share is 1 - decay, in [0, 1].
	Average(entries []Entry, share float32) error
	// Exchange swaps the parameters of entries with LR != 0 with their averages, bit for bit. A Copy receives
	// the new W. Calling it twice restores all.
	Exchange(entries []Entry) error
	// GradNorm writes the Euclidean norm of all gradients (of entries with LR != 0) to norm, one float32. The
	// order of the sum is fixed. It is not finite when any gradient is not.
	GradNorm(norm *tensor.Tensor, entries []Entry) error
	// Clip multiplies all gradients (of entries with LR != 0) by limit/norm where norm > limit.
	Clip(entries []Entry, norm *tensor.Tensor, limit float32) error
	// Zero sets a tensor to 0.
	Zero(t *tensor.Tensor) error
}
