package update

import (
	"errors"
	"fmt"

	"nmn/kernels/tensor"
)

// ErrParams is wrapped by errors about constants of an update outside of their range.
var ErrParams = errors.New("constant out of range")

// Use selects the tensors of an entry that an operation needs in addition to the gradient.
type Use uint8

// Tensors of an entry.
const (
	UseG Use = 1 << iota
	UseW
	UseM
	UseV
	UseAverage
)

// Fit checks that the tensors of each entry that an operation uses are floats of the length of the entry's
// gradient. It skips entries with LR 0. It is the shape rule of every device.
func Fit(operation string, entries []Entry, use Use) error {
	for i := range entries {
		e := &entries[i]
		if e.LR == 0 {
			continue
		}
		for _, t := range [...]struct {
			use    Use
			name   string
			tensor *tensor.Tensor
		}{{UseG, "gradient", e.G}, {UseW, "weight", e.W}, {UseM, "first moment", e.M}, {UseV, "second moment", e.V},
			{UseAverage, "average", e.Average}} {
			if use&t.use == 0 {
				continue
			}
			if !t.tensor.IsFloats() || t.tensor.Len() != e.G.Len() {
				return tensor.Misfit(operation, "entry %d: %s is %s, gradient is %s", i, t.name, t.tensor, e.G)
			}
		}
		if e.Copy != nil && (e.Copy.DType() != tensor.BFloat16 || e.Copy.Len() != e.G.Len()) {
			return tensor.Misfit(operation, "entry %d: copy is %s, gradient is %s: want bfloat16 of equal length", i, e.Copy,
				e.G)
		}
	}
	return nil
}

// fitAdam checks the constants of Adam: betas in [0, 1), Epsilon at least 0, Step from 1.
func fitAdam(p AdamParams) error {
	if !(p.Beta1 >= 0 && p.Beta1 < 1 && p.Beta2 >= 0 && p.Beta2 < 1) {
		return fmt.Errorf("adam: betas %g and %g are not both in [0, 1): %w", p.Beta1, p.Beta2, ErrParams)
	}
	if !(p.Epsilon >= 0) || p.Step < 1 {
		return fmt.Errorf("adam: epsilon %g, step %d: epsilon is at least 0 and steps count from 1: %w", p.Epsilon,
			p.Step, ErrParams)
	}
	return nil
}

// fitShare checks the share of an average, in [0, 1].
func fitShare(share float32) error {
	if !(share >= 0 && share <= 1) {
		return fmt.Errorf("average: share %g is not in [0, 1]: %w", share, ErrParams)
	}
	return nil
}

// fitClip checks the norm, one float, and the limit, above 0.
func fitClip(norm *tensor.Tensor, limit float32) error {
	if err := fitNorm("clip", norm); err != nil {
		return err
	}
	if !(limit > 0) {
		return fmt.Errorf("clip: limit %g is not above 0: %w", limit, ErrParams)
	}
	return nil
}

func fitNorm(operation string, norm *tensor.Tensor) error {
	if norm == nil || norm.DType() != tensor.Float32 || norm.Len() != 1 {
		return tensor.Misfit(operation, "norm is %s, want one float32", norm)
	}
	return nil
}
