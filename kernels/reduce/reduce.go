// Package reduce sums the gradients of several ranks, in buckets, while later computation continues.
package reduce

import (
	"fmt"

	"nmn/kernels/tensor"
	"nmn/ranks"
)

// Reducer sums over ranks the float32 tensors that it was made for, in buckets: lists of tensors. It serves one
// goroutine, and every rank makes the same calls. No call allocates.
type Reducer interface {
	// Begin begins to replace the tensors of a bucket by their sums over the ranks, after the work that is
	// enqueued on the backend so far. Buckets are summed in the order in which they were begun.
	Begin(bucket int) error
	// Wait makes later work on the backend wait for all sums that were begun. On a device that works by
	// itself the host does not wait.
	Wait() error
	// Close frees the reducer's memory, not the tensors.
	Close() error
}

// Summer is a device that sums over ranks by itself, as cards do over NCCL. Use a type assertion to get it.
type Summer interface {
	// NewReducer makes the device's own Reducer. It returns nil if the device cannot sum after all. The host
	// then sums its tensors.
	NewReducer(g ranks.Group, buckets [][]*tensor.Tensor, wire ranks.Wire) (Reducer, error)
}

// New makes a Reducer of the tensors of a device: by the device itself if it is a Summer, else by the group,
// from the host's memory. Every rank passes buckets of equal shapes.
func New(g ranks.Group, device tensor.Device, buckets [][]*tensor.Tensor, wire ranks.Wire) (Reducer, error) {
	for i, bucket := range buckets {
		for _, t := range bucket {
			if t.DType() != tensor.Float32 {
				return nil, fmt.Errorf("reduce: bucket %d holds %s, want float32: %w", i, t, tensor.ErrShape)
			}
		}
	}
	if summer, ok := device.(Summer); ok {
		if own, err := summer.NewReducer(g, buckets, wire); own != nil || err != nil {
			return own, err
		}
	}
	return newHost(g, device, buckets, wire), nil
}

// Fold cuts tensors, given in an order, into buckets of consecutive groups. Each bucket closes when it has at
// least this number of bytes. sizes are the bytes of each group. It returns for each bucket the first group
// after it. Buckets, sizes and order are functions of the list alone, so all ranks compute equal ones.
func Fold(sizes []int, bytes int) (ends []int) {
	held := 0
	for i, size := range sizes {
		held += size
		if held >= bytes || i == len(sizes)-1 {
			ends, held = append(ends, i+1), 0
		}
	}
	return ends
}
