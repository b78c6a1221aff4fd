package loader

import (
	"slices"
	"unsafe"

	dense "gorgonia.org/tensor"
)

// Memory gives a Loader the memory of pixels and vectors, which it reuses from batch to batch. It must be
// safe for concurrent use. Memory that the Loader still holds when it is no longer used is not given back.
type Memory interface {
	// Alloc returns at least the given number of bytes, aligned for float32.
	Alloc(bytes int) ([]byte, error)
	// Free takes them back.
	Free(memory []byte) error
}

// hostArray is memory that is used again from batch to batch, and the tensor around it.
type hostArray[T uint8 | int32 | float32] struct {
	data   []T
	tensor *dense.Dense
}

// grow makes room for n values. The old values are lost if the memory is too small.
func (a *hostArray[T]) grow(n int) {
	if cap(a.data) < n {
		a.data, a.tensor = make([]T, n), nil
	}
	a.data = a.data[:n]
}

// growIn is grow in memory of others; nil for Go's.
func (a *hostArray[T]) growIn(m Memory, n int) error {
	if m == nil || cap(a.data) >= n {
		a.grow(n)
		return nil
	}
	size := int(unsafe.Sizeof(*new(T)))
	if cap(a.data) > 0 {
		old := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a.data))), size*cap(a.data))
		a.data, a.tensor = nil, nil
		if err := m.Free(old); err != nil {
			return err
		}
	}
	memory, err := m.Alloc(size * n)
	if err != nil {
		return err
	}
	a.data = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), n)
	return nil
}

// wrap returns a tensor of the first values; it reuses the last tensor if the shape is equal.
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
