package loader

import (
	"slices"

	dense "gorgonia.org/tensor"
)

// hostArray is memory that is used again from batch to batch, and the tensor around it.
type hostArray[T uint8 | int32 | float32] struct {
	data   []T
	tensor *dense.Dense
}

// grow makes room for n values. What was there before is lost where the memory is too small.
func (a *hostArray[T]) grow(n int) {
	if cap(a.data) < n {
		a.data, a.tensor = make([]T, n), nil
	}
	a.data = a.data[:n]
}

// wrap returns a tensor of the first values, the one of the last time where the shape is the same.
func (a *hostArray[T]) wrap(shape ...int) *dense.Dense {
	if a.tensor == nil || !slices.Equal(a.tensor.Shape(), shape) {
		n := 1
		for _, side := range shape {
			n *= side
		}
		kept := slices.Clone(shape) // so that the argument of a call that makes nothing costs nothing
		a.tensor = dense.New(dense.WithShape(kept...), dense.WithBacking(a.data[:n:n]))
	}
	return a.tensor
}
