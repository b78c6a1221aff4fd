// Package activation holds dropout. The ReLU is a part of the convolutions.
package activation

import "nmn/kernels/tensor"

// Ops is the family. Tensors are float32 (or the device's computing type) and of equal shape.
type Ops interface {
	// Dropout computes y = x·m/(1-rate). m[t,i] is 0 with probability rate, in [0, 1), and else 1. It depends
	// on the seed (int32, the lower and the upper word of a number derived from the run, the epoch and the
	// layer), on keys[t] (int32, one for each row t of the first dimension: a hash of epoch, sample and
	// frame) and on the position i within the row. So a sample gets the same mask in any batch. Word i mod 4
	// of Philox4x32-10 with counter (i/4, keys[t], 0, 0) and the seed as key keeps the element when it is at
	// least rate·2^32 (rounded down). y may be x. The seed is a tensor because it changes from epoch to
	// epoch, while recorded work stays.
	Dropout(y, x, keys, seed *tensor.Tensor, rate float32) error
	// DropoutGrad computes dx = dy·m/(1-rate) with the mask of Dropout. dx may be dy.
	DropoutGrad(dx, dy, keys, seed *tensor.Tensor, rate float32) error
}
