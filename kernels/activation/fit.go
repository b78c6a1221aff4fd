package activation

import (
	"fmt"

	"nmn/kernels/tensor"
)

// Fit checks that tensors are floats of equal shape. It is the shape rule of every device.
func Fit(operation string, tensors ...*tensor.Tensor) error {
	for _, t := range tensors {
		if !t.IsFloats() || !tensor.SameShape(t, tensors[0]) {
			return tensor.Misfit(operation, "%s and %s: floats of equal shape are needed", tensors[0], t)
		}
	}
	return nil
}

// fitDropout checks y and x, floats of equal shape T×…, keys, int32 T, the seed, int32 2, and the rate,
// in [0, 1). It returns the number of elements of a row. It is the rule of every device for Dropout and,
// with gradients in place of y and x, for DropoutGrad.
func fitDropout(operation string, y, x, keys, seed *tensor.Tensor, rate float32) (row int, err error) {
	if err := Fit(operation, y, x); err != nil {
		return 0, err
	}
	if x.Rank() == 0 || x.Len() == 0 {
		return 0, tensor.Misfit(operation, "%s has no rows", x)
	}
	if !keys.Is(tensor.Int32, x.Dim(0)) {
		return 0, tensor.Misfit(operation, "keys of %s are %s, want int32 %d", x, keys, x.Dim(0))
	}
	if seed == nil || seed.DType() != tensor.Int32 || seed.Len() != 2 {
		return 0, tensor.Misfit(operation, "the seed is %s, want int32 2", seed)
	}
	if !(rate >= 0 && rate < 1) {
		return 0, fmt.Errorf("%s: rate %g is not in [0, 1): %w", operation, rate, ErrRate)
	}
	return x.Len() / x.Dim(0), nil
}
